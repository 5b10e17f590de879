// RUN: uattn-opt --split-input-file --verify-diagnostics %s
// What the pipeline level's ops and types refuse, one rule a function.

// A tile has rows and columns.
func.func @smem_holds_a_tile(%t: !uattn.smem<vector<64xbf16>>, %i: i32) {
  // expected-error @below {{the type of a value is !uattn.smem<vector<64xbf16>>: expected a vector of rank 2 in it}}
  %r = "uattn.smem_rows"(%t, %i)
    : (!uattn.smem<vector<64xbf16>>, i32) -> !uattn.smem<vector<64xbf16>>
  return
}

// -----

// Slots are counted from one.
func.func @ring_has_stages() {
  // expected-error @below {{the type of a value is !uattn.ring<vector<64x64xbf16>, 0 : i64>: expected an i64 number of stages above 0}}
  %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 0 : i64,
                             consumer_warps = 4 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, 0 : i64>
  return
}

// -----

// The stage count is an i64.
func.func @ring_stages_are_i64() {
  // expected-error @below {{the type of a value is !uattn.ring<vector<64x64xbf16>, "two">: expected an i64 number of stages above 0}}
  %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 0 : i64,
                             consumer_warps = 4 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, "two">
  return
}

// -----

// An element of memory.
func.func @global_holds_a_number(%g: !uattn.global<"f32">, %o: i64, %r: i32) {
  // expected-error @below {{the type of a value is !uattn.global<"f32">: expected a number type as its parameter}}
  %x = "uattn.row_load"(%g, %o, %r, %r)
    : (!uattn.global<"f32">, i64, i32, i32) -> vector<64xf32>
  return
}

// -----

// A misspelt negate_a is never ignored.
func.func @unknown_attribute_is_refused(%a: !uattn.smem<vector<64x64xbf16>>,
                                        %b: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{unknown attribute 'negate' on uattn.wgmma: did you mean 'negate_a'?}}
  %x = "uattn.wgmma"(%a, %b) {negate}
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
  return
}

// -----

// The instruction takes multiples of 8.
func.func @role_registers_fit_setmaxnreg() {
  // expected-error @below {{registers has 20 at entry 0: expected a multiple of 8 from 24 to 256}}
  %r:2 = "uattn.role"() {registers = array<i64: 20, 240>,
                        warpgroups = array<i64: 1, 2>} : () -> (i32, i32)
  return
}

// -----

// An entry a role.
func.func @role_lists_are_as_long() {
  // expected-error @below {{registers has 2 entries and warpgroups 1: expected one each a role}}
  %r:2 = "uattn.role"() {registers = array<i64: 24, 240>,
                        warpgroups = array<i64: 1>} : () -> (i32, i32)
  return
}

// -----

// One number is no list.
func.func @role_lists_are_arrays() {
  // expected-error @below {{registers is missing or no array: expected array<i64: ...>}}
  %r:2 = "uattn.role"() {registers = 240 : i64,
                        warpgroups = array<i64: 1>} : () -> (i32, i32)
  return
}

// -----

// The swizzle pattern repeats every 1024 bytes.
func.func @ring_offset_is_aligned() {
  // expected-error @below {{smem_offset is 512: expected a multiple of 1024, at least 0}}
  %r = "uattn.ring_alloc"() {smem_offset = 512 : i64, barrier_offset = 0 : i64,
                             consumer_warps = 4 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
  return
}

// -----

// An mbarrier is 8 bytes.
func.func @barrier_offset_is_aligned() {
  // expected-error @below {{barrier_offset is 4: expected a multiple of 8, at least 0}}
  %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 4 : i64,
                             consumer_warps = 4 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
  return
}

// -----

// A slot that nobody frees is filled once.
func.func @ring_has_consumers() {
  // expected-error @below {{consumer_warps is 0: expected at least 1}}
  %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 0 : i64,
                             consumer_warps = 0 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
  return
}

// -----

// Offsets are i64.
func.func @ring_offsets_are_i64() {
  // expected-error @below {{smem_offset is missing or no i64: expected an i64}}
  %r = "uattn.ring_alloc"() {smem_offset = 0 : i32, barrier_offset = 0 : i64,
                             consumer_warps = 4 : i64}
    : () -> !uattn.ring<vector<64x64xbf16>, 2 : i64>
  return
}

// -----

// A copy stays within its slot.
func.func @box_fits_the_tile(%m: !uattn.tensor_map<vector<136x64xbf16>>,
                             %i: i32,
                             %r: !uattn.ring<vector<128x64xbf16>, 2 : i64>) {
  // expected-error @below {{the tensor map's box is 136x64 for a tile of 128x64: expected no more rows, a divisor of the columns and the same element type}}
  "uattn.ring_produce"(%m, %i, %i, %i, %r, %i)
    : (!uattn.tensor_map<vector<136x64xbf16>>, i32, i32, i32,
       !uattn.ring<vector<128x64xbf16>, 2 : i64>, i32) -> ()
  return
}

// -----

// Boxes side by side fill the columns.
func.func @box_divides_the_columns(%m: !uattn.tensor_map<vector<64x48xbf16>>,
                                   %i: i32,
                                   %r: !uattn.ring<vector<128x64xbf16>, 2 : i64>) {
  // expected-error @below {{the tensor map's box is 64x48 for a tile of 128x64: expected no more rows, a divisor of the columns and the same element type}}
  "uattn.ring_produce"(%m, %i, %i, %i, %r, %i)
    : (!uattn.tensor_map<vector<64x48xbf16>>, i32, i32, i32,
       !uattn.ring<vector<128x64xbf16>, 2 : i64>, i32) -> ()
  return
}

// -----

// A copy converts nothing.
func.func @box_has_the_tile_s_type(%m: !uattn.tensor_map<vector<128x64xf16>>,
                                   %i: i32,
                                   %r: !uattn.ring<vector<128x64xbf16>, 2 : i64>) {
  // expected-error @below {{the tensor map's box is 128x64 for a tile of 128x64: expected no more rows, a divisor of the columns and the same element type}}
  "uattn.ring_produce"(%m, %i, %i, %i, %r, %i)
    : (!uattn.tensor_map<vector<128x64xf16>>, i32, i32, i32,
       !uattn.ring<vector<128x64xbf16>, 2 : i64>, i32) -> ()
  return
}

// -----

// A slot holds no more rows than the tile that its ring names.
func.func @acquired_tile_is_in_the_slot(%r: !uattn.ring<vector<128x64xbf16>, 2 : i64>,
                                        %i: i32) {
  // expected-error @below {{the acquired tile is vector<192x64xbf16>: expected vector<128x64xbf16>}}
  %t = "uattn.ring_acquire"(%r, %i)
    : (!uattn.ring<vector<128x64xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<192x64xbf16>>
  return
}

// -----

// Its rows are whole.
func.func @acquired_rows_are_the_ring_s(%r: !uattn.ring<vector<128x128xbf16>, 2 : i64>,
                                        %i: i32) {
  // expected-error @below {{the acquired tile is vector<64x64xbf16>: expected vector<64x128xbf16>}}
  %t = "uattn.ring_acquire"(%r, %i)
    : (!uattn.ring<vector<128x128xbf16>, 2 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// A warpgroup multiplies 64 rows.
func.func @smem_rows_are_64(%t: !uattn.smem<vector<128x64xbf16>>, %i: i32) {
  // expected-error @below {{the tile of rows is vector<32x64xbf16>: expected vector<64x64xbf16>}}
  %r = "uattn.smem_rows"(%t, %i)
    : (!uattn.smem<vector<128x64xbf16>>, i32) -> !uattn.smem<vector<32x64xbf16>>
  return
}

// -----

// The last part would be short.
func.func @smem_rows_of_whole_64s(%t: !uattn.smem<vector<96x64xbf16>>,
                                  %i: i32) {
  // expected-error @below {{the source has 96 rows: expected a multiple of 64}}
  %r = "uattn.smem_rows"(%t, %i)
    : (!uattn.smem<vector<96x64xbf16>>, i32) -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// Barriers count whole warps.
func.func @named_barrier_counts_warps(%i: i32) {
  // expected-error @below {{threads is 100: expected a multiple of 32, at least 32}}
  "uattn.named_barrier_sync"(%i) {threads = 100 : i64} : (i32) -> ()
  return
}

// -----

// Sums are f32, factors are not.
func.func @wgmma_multiplies_16_bit(%a: vector<64x64xf32>,
                                   %b: !uattn.smem<vector<64x64xf32>>) {
  // expected-error @below {{a has element type f32 and b f32: expected bf16 or f16, the same for both}}
  %x = "uattn.wgmma"(%a, %b)
    : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>) -> vector<64x64xf32>
  return
}

// -----

// One instruction, one input type.
func.func @wgmma_factors_have_one_type(%a: vector<64x64xf16>,
                                       %b: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{a has element type f16 and b bf16: expected bf16 or f16, the same for both}}
  %x = "uattn.wgmma"(%a, %b)
    : (vector<64x64xf16>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
  return
}

// -----

// b is [k, n] unless transposed.
func.func @wgmma_sums_over_one_length(%a: !uattn.smem<vector<64x64xbf16>>,
                                      %b: !uattn.smem<vector<128x64xbf16>>) {
  // expected-error @below {{a has 64 columns and b 128 products: expected the same number}}
  %x = "uattn.wgmma"(%a, %b)
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<128x64xbf16>>)
    -> vector<64x64xf32>
  return
}

// -----

// Transposed, b is [n, k].
func.func @wgmma_product_has_the_outer_sizes(%a: !uattn.smem<vector<64x64xbf16>>,
                                             %b: !uattn.smem<vector<128x64xbf16>>) {
  // expected-error @below {{the product is vector<64x64xf32>: expected vector<64x128xf32>}}
  %x = "uattn.wgmma"(%a, %b) {transpose_b}
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<128x64xbf16>>)
    -> vector<64x64xf32>
  return
}

// -----

// 16-bit sums are not used.
func.func @wgmma_product_is_f32(%a: !uattn.smem<vector<64x64xbf16>>,
                                %b: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{the product is vector<64x64xbf16>: expected vector<64x64xf32>}}
  %x = "uattn.wgmma"(%a, %b)
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xbf16>
  return
}

// -----

// acc and the result are the same registers.
func.func @wgmma_adds_to_its_own_type(%a: !uattn.smem<vector<64x64xbf16>>,
                                      %b: !uattn.smem<vector<64x64xbf16>>,
                                      %c: vector<64x128xf32>) {
  // expected-error @below {{acc is vector<64x128xf32>: expected vector<64x64xf32>}}
  %x = "uattn.wgmma"(%a, %b, %c)
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>, vector<64x128xf32>)
    -> vector<64x64xf32>
  return
}

// -----

// Its presence is its meaning.
func.func @wgmma_transpose_has_no_value(%a: !uattn.smem<vector<64x64xbf16>>,
                                        %b: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{transpose_b has a value: expected a unit attribute}}
  %x = "uattn.wgmma"(%a, %b) {transpose_b = false}
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
  return
}

// -----

// Registers or shared memory.
func.func @wgmma_a_is_a_tile(%a: i32, %b: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{a is i32: expected a vector of rank 2 or an smem tile}}
  %x = "uattn.wgmma"(%a, %b)
    : (i32, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
  return
}

// -----

// Fewer than none cannot be in flight.
func.func @wgmma_wait_pending_is_a_count(%x: vector<64x64xf32>) {
  // expected-error @below {{pending is -1: expected at least 0}}
  %y = "uattn.wgmma_wait"(%x) {pending = -1 : i64}
    : (vector<64x64xf32>) -> vector<64x64xf32>
  return
}

// -----

// The methods of the cap attribute.
func.func @cap_apply_method_is_known(%x: vector<64x64xf32>) {
  // expected-error @below {{method is "relu": expected "none", "tanh", "soft_sign" or "alsc"}}
  %y = "uattn.cap_apply"(%x) {method = "relu"}
    : (vector<64x64xf32>) -> vector<64x64xf32>
  return
}

// -----

// A value a row of the tile.
func.func @row_broadcast_has_a_row_a_value(%x: vector<32xf32>) {
  // expected-error @below {{the tile is vector<64x64xf32>: expected vector<32x64xf32>}}
  %y = "uattn.row_broadcast"(%x) : (vector<32xf32>) -> vector<64x64xf32>
  return
}

// -----

// It copies.
func.func @row_broadcast_keeps_the_type(%x: vector<64xf16>) {
  // expected-error @below {{the tile is vector<64x64xf32>: expected vector<64x64xf16>}}
  %y = "uattn.row_broadcast"(%x) : (vector<64xf16>) -> vector<64x64xf32>
  return
}

// -----

// Every result column stands for as many.
func.func @fold_columns_divides_the_columns(%x: vector<64x64xf32>) {
  // expected-error @below {{the folded tile is vector<64x24xf32>: expected the tile's rows and element type, and a divisor of its columns}}
  %y = "uattn.fold_columns"(%x) {kind = "add"}
    : (vector<64x64xf32>) -> vector<64x24xf32>
  return
}

// -----

// Sums and maxima alone are needed.
func.func @fold_columns_kind_is_known(%x: vector<64x64xf32>) {
  // expected-error @below {{kind is "mul": expected "add" or "max"}}
  %y = "uattn.fold_columns"(%x) {kind = "mul"}
    : (vector<64x64xf32>) -> vector<64x8xf32>
  return
}

// -----

// Not a tile.
func.func @row_load_gives_one_value_a_row(%g: !uattn.global<f32>, %o: i64,
                                          %r: i32) {
  // expected-error @below {{rows is vector<64x1xf32>: expected a vector of rank 1}}
  %x = "uattn.row_load"(%g, %o, %r, %r)
    : (!uattn.global<f32>, i64, i32, i32) -> vector<64x1xf32>
  return
}

// -----

// Not a tile.
func.func @row_store_takes_one_value_a_row(%x: vector<64x1xf32>,
                                           %g: !uattn.global<f32>, %o: i64,
                                           %r: i32) {
  // expected-error @below {{rows is vector<64x1xf32>: expected a vector of rank 1}}
  "uattn.row_store"(%x, %g, %o, %r, %r)
    : (vector<64x1xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
  return
}

// -----

// The tile goes through shared memory whole.
func.func @tile_store_fits_its_staging(%x: vector<64x128xbf16>,
                                       %s: !uattn.smem<vector<64x64xbf16>>,
                                       %m: !uattn.tensor_map<vector<64x64xbf16>>,
                                       %i: i32) {
  // expected-error @below {{value is vector<64x128xbf16>: expected vector<64x64xbf16>}}
  "uattn.tile_store"(%x, %s, %m, %i, %i, %i, %i)
    : (vector<64x128xbf16>, !uattn.smem<vector<64x64xbf16>>,
       !uattn.tensor_map<vector<64x64xbf16>>, i32, i32, i32, i32) -> ()
  return
}

// -----

// The polynomial takes turns with the columns.
func.func @exp2_apply_takes_tiles(%x: vector<64xf32>) {
  // expected-error @below {{exponents is vector<64xf32>: expected a vector of rank 2}}
  %y = "uattn.exp2_apply"(%x) {polynomial_period = 4 : i64}
    : (vector<64xf32>) -> vector<64xf32>
  return
}

// -----

// No polynomial at all is math.exp2.
func.func @exp2_apply_period_is_a_count(%x: vector<64x64xf32>) {
  // expected-error @below {{polynomial_period is 0: expected at least 1}}
  %y = "uattn.exp2_apply"(%x) {polynomial_period = 0 : i64}
    : (vector<64x64xf32>) -> vector<64x64xf32>
  return
}

// -----

// Columns are keys.
func.func @mask_apply_takes_tiles(%x: vector<64xf32>, %i: i32, %end: vector<64xi32>) {
  // expected-error @below {{scores is vector<64xf32>: expected a vector of rank 2}}
  %y = "uattn.mask_apply"(%x, %i, %end) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (vector<64xf32>, i32, vector<64xi32>) -> vector<64xf32>
  return
}

// -----

// Every row has its end.
func.func @mask_apply_end_is_a_row_s(%x: vector<64x64xf32>, %i: i32, %end: vector<32xi32>) {
  // expected-error @below {{a limit is vector<32xi32>: expected a vector of i32 with an element a row}}
  %y = "uattn.mask_apply"(%x, %i, %end) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (vector<64x64xf32>, i32, vector<32xi32>) -> vector<64x64xf32>
  return
}

// -----

// So has the begin, if there is one.
func.func @mask_apply_begin_is_a_row_s(%x: vector<64x64xf32>, %i: i32, %end: vector<64xi32>,
                                       %begin: vector<64x1xi32>) {
  // expected-error @below {{a limit is vector<64x1xi32>: expected a vector of i32 with an element a row}}
  %y = "uattn.mask_apply"(%x, %i, %end, %begin) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
    : (vector<64x64xf32>, i32, vector<64xi32>, vector<64x1xi32>) -> vector<64x64xf32>
  return
}

// -----

// Keys are counted.
func.func @mask_apply_limits_are_integers(%x: vector<64x64xf32>, %i: i32,
                                          %end: vector<64xf32>) {
  // expected-error @below {{a limit is vector<64xf32>: expected a vector of i32 with an element a row}}
  %y = "uattn.mask_apply"(%x, %i, %end) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (vector<64x64xf32>, i32, vector<64xf32>) -> vector<64x64xf32>
  return
}

// -----

// One value a row.
func.func @row_index_has_no_columns() {
  // expected-error @below {{rows is vector<64x8xi32>: expected a vector of rank 1}}
  %x = "uattn.row_index"() : () -> vector<64x8xi32>
  return
}

// -----

// Repeated over rows.
func.func @column_load_gives_a_tile(%g: !uattn.global<i32>, %o: i64, %i: i32) {
  // expected-error @below {{the tile is vector<64xi32>: expected a vector of rank 2}}
  %x = "uattn.column_load"(%g, %o, %i, %i)
    : (!uattn.global<i32>, i64, i32, i32) -> vector<64xi32>
  return
}

// -----

// What is read is what is there.
func.func @smem_read_gives_the_tile(%t: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{the tile is vector<64x64xf32>: expected vector<64x64xbf16>}}
  %x = "uattn.smem_read"(%t) : (!uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
  return
}

// -----

// Row by row.
func.func @row_dot_takes_equal_tiles(%a: !uattn.smem<vector<64x64xbf16>>,
                                     %b: !uattn.smem<vector<64x128xbf16>>) {
  // expected-error @below {{b is vector<64x128xbf16>: expected vector<64x64xbf16>}}
  %x = "uattn.row_dot"(%a, %b)
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x128xbf16>>) -> vector<64xf32>
  return
}

// -----

// One product a row.
func.func @row_dot_gives_rows(%a: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{rows is vector<64x8xf32>: expected a vector of rank 1}}
  %x = "uattn.row_dot"(%a, %a)
    : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x8xf32>
  return
}

// -----

// Rows to look at.
func.func @segment_hull_has_rows(%g: !uattn.global<i32>, %o: i64, %i: i32) {
  // expected-error @below {{rows is 0: expected at least 1}}
  %h:3 = "uattn.segment_hull"(%g, %o, %i, %i, %g, %o, %i, %i)
    {rows = 0 : i64, smem_offset = 0 : i64, threads = 512 : i64}
    : (!uattn.global<i32>, i64, i32, i32, !uattn.global<i32>, i64, i32, i32) -> (i32, i32, i1)
  return
}

// -----

// All threads of all warps.
func.func @segment_hull_takes_warps(%g: !uattn.global<i32>, %o: i64, %i: i32) {
  // expected-error @below {{threads is 100: expected a multiple of 32, at least 32}}
  %h:3 = "uattn.segment_hull"(%g, %o, %i, %i, %g, %o, %i, %i)
    {rows = 64 : i64, smem_offset = 0 : i64, threads = 100 : i64}
    : (!uattn.global<i32>, i64, i32, i32, !uattn.global<i32>, i64, i32, i32) -> (i32, i32, i1)
  return
}

// -----

// Words of 64 bits are exchanged.
func.func @segment_hull_scratch_is_aligned(%g: !uattn.global<i32>, %o: i64, %i: i32) {
  // expected-error @below {{smem_offset is 4: expected a multiple of 8, at least 0}}
  %h:3 = "uattn.segment_hull"(%g, %o, %i, %i, %g, %o, %i, %i)
    {rows = 64 : i64, smem_offset = 4 : i64, threads = 128 : i64}
    : (!uattn.global<i32>, i64, i32, i32, !uattn.global<i32>, i64, i32, i32) -> (i32, i32, i1)
  return
}

// -----

// A record has four numbers.
func.func @records_have_four_numbers(%g: !uattn.global<f32>, %o: i64, %i: i32,
                           %r: !uattn.ring<vector<64x8xf32>, 2 : i64>) {
  // expected-error @below {{the ring's tile is vector<64x8xf32>: expected vector<64x4xf32>}}
  "uattn.ring_produce_records"(%g, %o, %r, %i)
    : (!uattn.global<f32>, i64, !uattn.ring<vector<64x8xf32>, 2 : i64>, i32) -> ()
  return
}

// -----

// They are f32.
func.func @records_are_f32(%g: !uattn.global<f32>, %o: i64, %i: i32,
                           %r: !uattn.ring<vector<64x4xbf16>, 2 : i64>) {
  // expected-error @below {{the ring's tile is vector<64x4xbf16>: expected vector<64x4xf32>}}
  "uattn.ring_produce_records"(%g, %o, %r, %i)
    : (!uattn.global<f32>, i64, !uattn.ring<vector<64x4xbf16>, 2 : i64>, i32) -> ()
  return
}

// -----

// Of records alone.
func.func @column_read_takes_records(%t: !uattn.smem<vector<64x64xf32>>) {
  // expected-error @below {{the tile of records is vector<64x64xf32>: expected vector<64x4xf32>}}
  %x = "uattn.column_read"(%t) {field = 0 : i64}
    : (!uattn.smem<vector<64x64xf32>>) -> vector<64x64xf32>
  return
}

// -----

// The first is 0.
func.func @column_read_field_is_a_number(%t: !uattn.smem<vector<64x4xf32>>) {
  // expected-error @below {{field is -1: expected at least 0}}
  %x = "uattn.column_read"(%t) {field = -1 : i64}
    : (!uattn.smem<vector<64x4xf32>>) -> vector<64x64xf32>
  return
}

// -----

// An i64, as all counts.
func.func @column_read_field_is_i64(%t: !uattn.smem<vector<64x4xf32>>) {
  // expected-error @below {{field is missing or no i64: expected an i64}}
  %x = "uattn.column_read"(%t) {field = 0 : i32}
    : (!uattn.smem<vector<64x4xf32>>) -> vector<64x64xf32>
  return
}

// -----

// The last is 3.
func.func @column_read_field_is_one_of_four(%t: !uattn.smem<vector<64x4xf32>>) {
  // expected-error @below {{field is 4: expected at most 3}}
  %x = "uattn.column_read"(%t) {field = 4 : i64}
    : (!uattn.smem<vector<64x4xf32>>) -> vector<64x64xf32>
  return
}

// -----

// A column a record.
func.func @column_read_has_a_column_a_record(%t: !uattn.smem<vector<128x4xf32>>) {
  // expected-error @below {{the tile is vector<64x64xf32>: expected a vector of rank 2 with a column a record}}
  %x = "uattn.column_read"(%t) {field = 0 : i64}
    : (!uattn.smem<vector<128x4xf32>>) -> vector<64x64xf32>
  return
}

// -----

// Repeated over rows.
func.func @column_read_gives_a_tile(%t: !uattn.smem<vector<64x4xf32>>) {
  // expected-error @below {{the tile is vector<64xf32>: expected a vector of rank 2 with a column a record}}
  %x = "uattn.column_read"(%t) {field = 0 : i64} : (!uattn.smem<vector<64x4xf32>>) -> vector<64xf32>
  return
}

// -----

// The swizzle pattern repeats every 1024 bytes.
func.func @smem_alloc_offset_is_aligned() {
  // expected-error @below {{smem_offset is 512: expected a multiple of 1024, at least 0}}
  %t = "uattn.smem_alloc"() {smem_offset = 512 : i64} : () -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// Within the CTA.
func.func @smem_alloc_offset_is_no_less_than_0() {
  // expected-error @below {{smem_offset is -1024: expected a multiple of 1024, at least 0}}
  %t = "uattn.smem_alloc"() {smem_offset = -1024 : i64} : () -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// The last part would be narrow.
func.func @smem_columns_of_whole_64s(%t: !uattn.smem<vector<64x96xbf16>>, %i: i32) {
  // expected-error @below {{the source has 96 columns: expected a multiple of 64}}
  %c = "uattn.smem_columns"(%t, %i)
    : (!uattn.smem<vector<64x96xbf16>>, i32) -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// Columns that lie together.
func.func @smem_columns_are_64(%t: !uattn.smem<vector<64x128xbf16>>, %i: i32) {
  // expected-error @below {{the tile of columns is vector<64x128xbf16>: expected vector<64x64xbf16>}}
  %c = "uattn.smem_columns"(%t, %i)
    : (!uattn.smem<vector<64x128xbf16>>, i32) -> !uattn.smem<vector<64x128xbf16>>
  return
}

// -----

// All rows of them.
func.func @smem_columns_keep_the_rows(%t: !uattn.smem<vector<128x128xbf16>>, %i: i32) {
  // expected-error @below {{the tile of columns is vector<64x64xbf16>: expected vector<128x64xbf16>}}
  %c = "uattn.smem_columns"(%t, %i)
    : (!uattn.smem<vector<128x128xbf16>>, i32) -> !uattn.smem<vector<64x64xbf16>>
  return
}

// -----

// A value has rows and columns.
func.func @smem_transpose_takes_tiles(%x: vector<64xbf16>, %t: !uattn.smem<vector<64x64xbf16>>) {
  // expected-error @below {{value is vector<64xbf16>: expected a vector of rank 2}}
  "uattn.smem_transpose"(%x, %t) : (vector<64xbf16>, !uattn.smem<vector<64x64xbf16>>) -> ()
  return
}

// -----

// Rows become columns.
func.func @smem_transpose_swaps_the_sizes(%x: vector<64x128xbf16>,
                                          %t: !uattn.smem<vector<64x128xbf16>>) {
  // expected-error @below {{the target is vector<64x128xbf16>: expected vector<128x64xbf16>}}
  "uattn.smem_transpose"(%x, %t) : (vector<64x128xbf16>, !uattn.smem<vector<64x128xbf16>>) -> ()
  return
}

// -----

// It converts nothing.
func.func @smem_transpose_keeps_the_type(%x: vector<64x64xbf16>,
                                         %t: !uattn.smem<vector<64x64xf16>>) {
  // expected-error @below {{the target is vector<64x64xf16>: expected vector<64x64xbf16>}}
  "uattn.smem_transpose"(%x, %t) : (vector<64x64xbf16>, !uattn.smem<vector<64x64xf16>>) -> ()
  return
}

// -----

// A record a row; the last of the four has columns.
func.func @record_store_takes_one_value_a_row(%x: vector<64xf32>, %y: vector<64x1xf32>,
                                              %g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{rows is vector<64x1xf32>: expected a vector of rank 1}}
  "uattn.record_store"(%x, %x, %x, %y, %g, %o, %i, %i)
    : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64x1xf32>, !uattn.global<f32>, i64,
       i32, i32) -> ()
  return
}

// -----

// Sums lie by 64 columns.
func.func @sums_clear_columns_are_whole_64s(%g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{columns is 96: expected a multiple of 64, at least 64}}
  "uattn.sums_clear"(%g, %o, %i, %i) {columns = 96 : i64}
    : (!uattn.global<f32>, i64, i32, i32) -> ()
  return
}

// -----

// Some columns.
func.func @sums_clear_has_columns(%g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{columns is 0: expected a multiple of 64, at least 64}}
  "uattn.sums_clear"(%g, %o, %i, %i) {columns = 0 : i64}
    : (!uattn.global<f32>, i64, i32, i32) -> ()
  return
}

// -----

// 64 columns a time.
func.func @sums_add_takes_64_columns(%x: vector<64x128xf32>, %s: !uattn.smem<vector<64x64xf32>>,
                                     %g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{value is vector<64x128xf32>: expected vector<64x64xf32>}}
  "uattn.sums_add"(%x, %s, %g, %o, %i, %i, %i)
    : (vector<64x128xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.global<f32>, i64,
       i32, i32, i32) -> ()
  return
}

// -----

// Sums are f32.
func.func @sums_add_takes_f32(%x: vector<64x64xbf16>, %s: !uattn.smem<vector<64x64xf32>>,
                              %g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{value is vector<64x64xbf16>: expected vector<64x64xf32>}}
  "uattn.sums_add"(%x, %s, %g, %o, %i, %i, %i)
    : (vector<64x64xbf16>, !uattn.smem<vector<64x64xf32>>, !uattn.global<f32>, i64,
       i32, i32, i32) -> ()
  return
}

// -----

// All rows go through shared memory.
func.func @sums_add_fits_its_staging(%x: vector<64x64xf32>, %s: !uattn.smem<vector<128x64xf32>>,
                                     %g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{staging is vector<128x64xf32>: expected vector<64x64xf32>}}
  "uattn.sums_add"(%x, %s, %g, %o, %i, %i, %i)
    : (vector<64x64xf32>, !uattn.smem<vector<128x64xf32>>, !uattn.global<f32>, i64,
       i32, i32, i32) -> ()
  return
}

// -----

// Sums lie by 64 columns.
func.func @sums_load_columns_are_whole_64s(%g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{the tile is vector<64x96xf32>: expected a vector of rank 2 and a multiple of 64 columns}}
  %x = "uattn.sums_load"(%g, %o, %i, %i) : (!uattn.global<f32>, i64, i32, i32) -> vector<64x96xf32>
  return
}

// -----

// A tile of them.
func.func @sums_load_gives_a_tile(%g: !uattn.global<f32>, %o: i64, %i: i32) {
  // expected-error @below {{the tile is vector<64xf32>: expected a vector of rank 2 and a multiple of 64 columns}}
  %x = "uattn.sums_load"(%g, %o, %i, %i) : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
  return
}
