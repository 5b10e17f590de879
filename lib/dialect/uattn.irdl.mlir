// The uattn dialect, loaded into a context at run time.
//
// IRDL says how many operands, results and which attributes an op must have.
// Attributes that an op may lack are not listed here; the verifier
// (verify.c) knows them all and refuses any other name.
irdl.dialect @uattn {
  // ---- Level "op": what is asked ------------------------------------------

  // #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>
  irdl.attribute @cap {
    %method = irdl.any
    %cap = irdl.any
    %alpha = irdl.any
    %beta = irdl.any
    irdl.parameters(method: %method, cap: %cap, alpha: %alpha, beta: %beta)
  }

  irdl.operation @ranker_attention {
    %q = irdl.base "!builtin.tensor"
    %k = irdl.base "!builtin.tensor"
    %v = irdl.base "!builtin.tensor"
    %temp = irdl.base "!builtin.tensor"
    %bounds = irdl.base "!builtin.tensor"
    %q_segment_ids = irdl.base "!builtin.tensor"
    %kv_segment_ids = irdl.base "!builtin.tensor"
    %out = irdl.base "!builtin.tensor"
    %lse = irdl.base "!builtin.tensor"
    %cap = irdl.base @uattn::@cap
    %sm_scale = irdl.any
    irdl.operands(q: %q, k: %k, v: %v, temp: optional %temp, bounds: optional %bounds,
                  q_segment_ids: optional %q_segment_ids, kv_segment_ids: optional %kv_segment_ids)
    irdl.attributes {"cap" = %cap, "sm_scale" = %sm_scale}
    irdl.results(out: %out, lse: optional %lse)
  }

  irdl.operation @ranker_attention_bwd {
    %q = irdl.base "!builtin.tensor"
    %k = irdl.base "!builtin.tensor"
    %v = irdl.base "!builtin.tensor"
    %temp = irdl.base "!builtin.tensor"
    %bounds = irdl.base "!builtin.tensor"
    %q_segment_ids = irdl.base "!builtin.tensor"
    %kv_segment_ids = irdl.base "!builtin.tensor"
    %out = irdl.base "!builtin.tensor"
    %lse = irdl.base "!builtin.tensor"
    %dout = irdl.base "!builtin.tensor"
    %dlse = irdl.base "!builtin.tensor"
    %dq = irdl.base "!builtin.tensor"
    %dk = irdl.base "!builtin.tensor"
    %dv = irdl.base "!builtin.tensor"
    %dtemp = irdl.base "!builtin.tensor"
    %cap = irdl.base @uattn::@cap
    %sm_scale = irdl.any
    irdl.operands(q: %q, k: %k, v: %v, temp: optional %temp, bounds: optional %bounds,
                  q_segment_ids: optional %q_segment_ids, kv_segment_ids: optional %kv_segment_ids,
                  out: %out, lse: %lse, dout: %dout, dlse: optional %dlse)
    irdl.attributes {"cap" = %cap, "sm_scale" = %sm_scale}
    irdl.results(dq: %dq, dk: %dk, dv: %dv, dtemp: optional %dtemp)
  }

  // ---- Level "planned": the decisions -------------------------------------

  // #uattn.plan<{kv_tile_rows = 176 : i64, ...}>: the fields of lib/plan.
  irdl.attribute @plan {
    %fields = irdl.base "#builtin.dictionary"
    irdl.parameters(fields: %fields)
  }

  // ---- Level "pipeline": one kernel, tiles of one warpgroup ----------------

  // A tile in shared memory: !uattn.smem<vector<64x128xbf16>>.
  irdl.type @smem {
    %tile = irdl.any
    irdl.parameters(tile: %tile)
  }
  // A ring of such tiles with a full and an empty mbarrier a slot:
  // !uattn.ring<vector<176x128xbf16>, 2 : i64>.
  irdl.type @ring {
    %tile = irdl.any
    %stages = irdl.any
    irdl.parameters(tile: %tile, stages: %stages)
  }
  // A tensor in global memory behind a tensor map, with its TMA box:
  // !uattn.tensor_map<vector<176x64xbf16>>.
  irdl.type @tensor_map {
    %box = irdl.any
    irdl.parameters(box: %box)
  }
  // A tensor in global memory behind a plain address: !uattn.global<f32>.
  irdl.type @global {
    %element = irdl.any
    irdl.parameters(element: %element)
  }

  // Which of the kernel's warp roles the executing warp has, and the index of
  // its warpgroup within that role. Registers and warpgroups a role.
  irdl.operation @role {
    %role = irdl.is i32
    %index = irdl.is i32
    %registers = irdl.any
    %warpgroups = irdl.any
    irdl.attributes {"registers" = %registers, "warpgroups" = %warpgroups}
    irdl.results(role: %role, index: %index)
  }
  // True in exactly one thread of the warpgroup.
  irdl.operation @elect {
    %elected = irdl.is i1
    irdl.results(elected: %elected)
  }
  irdl.operation @cta_index {
    %index = irdl.is i32
    irdl.results(index: %index)
  }

  // Looks for the keys that rows [first_row, first_row + rows) of the CTA may see
  // by their segments. Among keys [begin, end), `first` and `after` enclose
  // those whose id lies between the rows' least and largest; `is_uniform` says
  // that all rows and all keys in [first, after) have one id. Without such a
  // key `first` is not below `after`. All threads of the CTA take part, with 32
  // bytes of shared memory at smem_offset.
  irdl.operation @segment_hull {
    %q_ids = irdl.base @uattn::@global
    %q_offset = irdl.is i64
    %first_row = irdl.is i32
    %q_tokens = irdl.is i32
    %kv_ids = irdl.base @uattn::@global
    %kv_offset = irdl.is i64
    %begin = irdl.is i32
    %end = irdl.is i32
    %first = irdl.is i32
    %after = irdl.is i32
    %is_uniform = irdl.is i1
    %rows = irdl.any
    %threads = irdl.any
    %offset = irdl.any
    irdl.operands(q_ids: %q_ids, q_offset: %q_offset, first_row: %first_row, q_tokens: %q_tokens,
                  kv_ids: %kv_ids, kv_offset: %kv_offset, begin: %begin, end: %end)
    irdl.attributes {"rows" = %rows, "threads" = %threads, "smem_offset" = %offset}
    irdl.results(first: %first, after: %after, is_uniform: %is_uniform)
  }

  // Shared memory at a fixed offset; barriers at a fixed offset of their own:
  // for slot s the full barrier at barrier_offset + 16 s, the empty one 8
  // bytes behind it. `consumers` warps arrive at the empty barrier.
  irdl.operation @ring_alloc {
    %ring = irdl.base @uattn::@ring
    %offset = irdl.any
    %barrier_offset = irdl.any
    %consumers = irdl.any
    irdl.attributes {"smem_offset" = %offset, "barrier_offset" = %barrier_offset,
                     "consumer_warps" = %consumers}
    irdl.results(ring: %ring)
  }
  // Waits until the slot of `step` is empty, then copies the tile at (column
  // 0, head, row, batch) of the tensor into it; the slot is full when the copy
  // has landed. One thread.
  irdl.operation @ring_produce {
    %map = irdl.base @uattn::@tensor_map
    %head = irdl.is i32
    %row = irdl.is i32
    %batch = irdl.is i32
    %ring = irdl.base @uattn::@ring
    %step = irdl.is i32
    irdl.operands(map: %map, head: %head, row: %row, batch: %batch, ring: %ring, step: %step)
  }
  // Waits until the slot of `step` is full.
  irdl.operation @ring_acquire {
    %ring = irdl.base @uattn::@ring
    %step = irdl.is i32
    %tile = irdl.base @uattn::@smem
    irdl.operands(ring: %ring, step: %step)
    irdl.results(tile: %tile)
  }
  // The executing warpgroup will not read the slot of `step` again.
  irdl.operation @ring_release {
    %ring = irdl.base @uattn::@ring
    %step = irdl.is i32
    irdl.operands(ring: %ring, step: %step)
  }
  // The same for a ring of records, tiles of f32 whose rows lie one behind the
  // other: the copy comes from source[offset] on, which a multiple of 16 bytes
  // must lie at.
  irdl.operation @ring_produce_records {
    %source = irdl.base @uattn::@global
    %offset = irdl.is i64
    %ring = irdl.base @uattn::@ring
    %step = irdl.is i32
    irdl.operands(source: %source, offset: %offset, ring: %ring, step: %step)
  }
  // A tile at a fixed offset that no barrier guards.
  irdl.operation @smem_alloc {
    %tile = irdl.base @uattn::@smem
    %offset = irdl.any
    irdl.attributes {"smem_offset" = %offset}
    irdl.results(tile: %tile)
  }
  // Rows [64 index, 64 index + 64) of a tile.
  irdl.operation @smem_rows {
    %source = irdl.base @uattn::@smem
    %index = irdl.is i32
    %tile = irdl.base @uattn::@smem
    irdl.operands(source: %source, index: %index)
    irdl.results(tile: %tile)
  }

  // Columns [64 index, 64 index + 64) of a tile.
  irdl.operation @smem_columns {
    %source = irdl.base @uattn::@smem
    %index = irdl.is i32
    %tile = irdl.base @uattn::@smem
    irdl.operands(source: %source, index: %index)
    irdl.results(tile: %tile)
  }

  // Writes the transpose of a tile of 64 rows in registers by ordinary stores.
  irdl.operation @smem_transpose {
    %value = irdl.base "!builtin.vector"
    %target = irdl.base @uattn::@smem
    irdl.operands(value: %value, target: %target)
  }
  // The tile's elements in registers, read by ordinary loads.
  irdl.operation @smem_read {
    %source = irdl.base @uattn::@smem
    %tile = irdl.base "!builtin.vector"
    irdl.operands(source: %source)
    irdl.results(tile: %tile)
  }
  // The scalar products of the rows of two tiles, in f32.
  irdl.operation @row_dot {
    %a = irdl.base @uattn::@smem
    %b = irdl.base @uattn::@smem
    %rows = irdl.base "!builtin.vector"
    irdl.operands(a: %a, b: %b)
    irdl.results(rows: %rows)
  }
  // Zeros in all rows of the tile from `first` on, by ordinary stores.
  irdl.operation @smem_clear_rows {
    %tile = irdl.base @uattn::@smem
    %first = irdl.is i32
    irdl.operands(tile: %tile, first: %first)
  }
  // Zeros in the tile's rows where `flags` is true, by ordinary stores of the
  // warpgroup, which meets at named barrier `barrier` before anyone reads the
  // tile again.
  irdl.operation @smem_drop_rows {
    %tile = irdl.base @uattn::@smem
    %flags = irdl.base "!builtin.vector"
    %barrier = irdl.is i32
    irdl.operands(tile: %tile, flags: %flags, barrier: %barrier)
  }
  // Flips the sign of the tile's rows where `flags` is true, by ordinary loads
  // and stores of the warpgroup, which meets at named barrier `barrier`
  // before anyone reads the tile again.
  irdl.operation @smem_negate_rows {
    %tile = irdl.base @uattn::@smem
    %flags = irdl.base "!builtin.vector"
    %barrier = irdl.is i32
    irdl.operands(tile: %tile, flags: %flags, barrier: %barrier)
  }
  // The lanes of the warp meet: what they did comes before what any does next,
  // such as to release a slot that all have read by ordinary loads.
  irdl.operation @warp_sync {
  }
  // Orders this thread's ordinary accesses to shared memory before what the
  // copy engine and the tensor cores do there after a barrier.
  irdl.operation @async_proxy_fence {
  }

  // Named barriers: `threads` threads of the CTA meet at barrier `id`. With
  // `when`, only warps in which it is true take part.
  irdl.operation @named_barrier_sync {
    %id = irdl.is i32
    %when = irdl.is i1
    %threads = irdl.any
    irdl.operands(id: %id, when: optional %when)
    irdl.attributes {"threads" = %threads}
  }
  irdl.operation @named_barrier_arrive {
    %id = irdl.is i32
    %when = irdl.is i1
    %threads = irdl.any
    irdl.operands(id: %id, when: optional %when)
    irdl.attributes {"threads" = %threads}
  }

  // acc + a b, started but not waited for: nobody may touch the result, nor
  // the registers of `a` and `acc`, before a wgmma_wait has returned it.
  // transpose_b (unit): b is stored as [n, k], key by key. negate_a (unit).
  irdl.operation @wgmma {
    %a = irdl.any
    %b = irdl.base @uattn::@smem
    %acc = irdl.base "!builtin.vector"
    %result = irdl.base "!builtin.vector"
    irdl.operands(a: %a, b: %b, acc: optional %acc)
    irdl.results(result: %result)
  }
  // Waits until at most `pending` of the warpgroup's products are in flight
  // and returns its operands, so that SSA carries the order: `value` is a
  // product that has then arrived, `tied` another value that must not be
  // worked on earlier.
  irdl.operation @wgmma_wait {
    %value = irdl.base "!builtin.vector"
    %tied = irdl.base "!builtin.vector"
    %pending = irdl.any
    irdl.operands(value: %value, tied: optional %tied)
    irdl.attributes {"pending" = %pending}
    irdl.results(result: %value, tied_result: optional %tied)
  }

  // The normalised cap function of `method` on every element: tanh x,
  // x / (1 + |x|), or 1 / (1 + 2^x) for alsc.
  irdl.operation @cap_apply {
    %scores = irdl.base "!builtin.vector"
    %method = irdl.any
    irdl.operands(scores: %scores)
    irdl.attributes {"method" = %method}
    irdl.results(capped: %scores)
  }
  // 2^x, approximately. In every polynomial_period-th group of 8 columns it is
  // computed by a polynomial on the FMA units instead of the special function
  // unit; results below 2^-125 then become 2^-125.
  irdl.operation @exp2_apply {
    %exponents = irdl.base "!builtin.vector"
    %period = irdl.any
    irdl.operands(exponents: %exponents)
    irdl.attributes {"polynomial_period" = %period}
    irdl.results(powers: %exponents)
  }
  // -inf unless begin[row] <= first_key + column < end[row].
  irdl.operation @mask_apply {
    %scores = irdl.base "!builtin.vector"
    %first_key = irdl.is i32
    %end = irdl.base "!builtin.vector"
    %begin = irdl.base "!builtin.vector"
    irdl.operands(scores: %scores, first_key: %first_key, end: %end, begin: optional %begin)
    irdl.results(masked: %scores)
  }
  // The index of every row in its tile.
  irdl.operation @row_index {
    %rows = irdl.base "!builtin.vector"
    irdl.results(rows: %rows)
  }
  // A value a row, repeated over the tile's columns.
  irdl.operation @row_broadcast {
    %rows = irdl.base "!builtin.vector"
    %tile = irdl.base "!builtin.vector"
    irdl.operands(rows: %rows)
    irdl.results(tile: %tile)
  }
  // Combines the columns that are equal modulo the result's column count, a
  // step towards a reduction that needs no exchange between threads.
  // kind: "add" or "max".
  irdl.operation @fold_columns {
    %tile = irdl.base "!builtin.vector"
    %folded = irdl.base "!builtin.vector"
    %kind = irdl.any
    irdl.operands(tile: %tile)
    irdl.attributes {"kind" = %kind}
    irdl.results(folded: %folded)
  }
  // True where `flags` is true in any row of the executing warp.
  irdl.operation @warp_any {
    %flags = irdl.base "!builtin.vector"
    %any = irdl.is i1
    irdl.operands(flags: %flags)
    irdl.results(any: %any)
  }
  // True where `flags` is true in all rows of the executing warpgroup, which
  // meets at named barrier `barrier`.
  irdl.operation @warpgroup_all {
    %flags = irdl.base "!builtin.vector"
    %barrier = irdl.is i32
    %all = irdl.is i1
    irdl.operands(flags: %flags, barrier: %barrier)
    irdl.results(all: %all)
  }
  // One value a row from source[offset + first_row + row]; 0 where first_row +
  // row is negative or not below limit.
  irdl.operation @row_load {
    %source = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    %rows = irdl.base "!builtin.vector"
    irdl.operands(source: %source, offset: %offset, first_row: %first_row, limit: %limit)
    irdl.results(rows: %rows)
  }
  // source[offset].
  irdl.operation @scalar_load {
    %source = irdl.base @uattn::@global
    %offset = irdl.is i64
    %value = irdl.any
    irdl.operands(source: %source, offset: %offset)
    irdl.results(value: %value)
  }
  // One value a column, repeated over the rows, from source[offset +
  // first_column + column]; 0 where first_column + column is not below limit.
  irdl.operation @column_load {
    %source = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_column = irdl.is i32
    %limit = irdl.is i32
    %tile = irdl.base "!builtin.vector"
    irdl.operands(source: %source, offset: %offset, first_column: %first_column, limit: %limit)
    irdl.results(tile: %tile)
  }
  // One value a column, repeated over the rows: number `field` of the record
  // of each column, read by ordinary loads. i32 elements take its bits.
  irdl.operation @column_read {
    %records = irdl.base @uattn::@smem
    %tile = irdl.base "!builtin.vector"
    %field = irdl.any
    irdl.operands(records: %records)
    irdl.attributes {"field" = %field}
    irdl.results(tile: %tile)
  }
  // A record of four f32 a row, record `first_row + row` from target[offset]
  // on, which a multiple of 16 bytes must lie at; nothing where first_row + row
  // is not below limit.
  irdl.operation @record_store {
    %a = irdl.base "!builtin.vector"
    %b = irdl.base "!builtin.vector"
    %c = irdl.base "!builtin.vector"
    %d = irdl.base "!builtin.vector"
    %target = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    irdl.operands(a: %a, b: %b, c: %c, d: %d, target: %target, offset: %offset, first_row: %first_row,
                  limit: %limit)
  }
  // target[offset + row] = rows[row]; nothing where row is not below limit.
  irdl.operation @row_store {
    %rows = irdl.base "!builtin.vector"
    %target = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    irdl.operands(rows: %rows, target: %target, offset: %offset, first_row: %first_row, limit: %limit)
  }
  // Writes a tile to (column 0, head, row, batch) of a tensor through the
  // shared-memory tile `staging`, whose content nobody needs any more; the
  // tensor map cuts off rows outside the tensor. `barrier` is a named barrier
  // of the warpgroup.
  irdl.operation @tile_store {
    %value = irdl.base "!builtin.vector"
    %staging = irdl.base @uattn::@smem
    %map = irdl.base @uattn::@tensor_map
    %head = irdl.is i32
    %row = irdl.is i32
    %batch = irdl.is i32
    %barrier = irdl.is i32
    irdl.operands(value: %value, staging: %staging, map: %map, head: %head, row: %row, batch: %batch,
                  barrier: %barrier)
  }

  // Sums of f32 in global memory, to which any CTA adds: for every 64 columns
  // all rows, 64 numbers each, in the order in which threads hold a tile (only
  // these three ops know it). The sums of `limit` rows start at offset, a
  // multiple of 64.
  //
  // Zeros in rows [first_row, first_row + 64) below limit of all columns, by
  // ordinary stores of the warpgroup.
  irdl.operation @sums_clear {
    %target = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    %columns = irdl.any
    irdl.operands(target: %target, offset: %offset, first_row: %first_row, limit: %limit)
    irdl.attributes {"columns" = %columns}
  }
  // Adds a tile of 64 columns to rows first_row on, those below limit, of the
  // 64 columns whose sums start at offset. The copy engine adds, in whatever
  // order CTAs come, out of `staging`, which this op alone uses: it waits until
  // its last tile has been read. `barrier` is a named barrier of the warpgroup.
  irdl.operation @sums_add {
    %value = irdl.base "!builtin.vector"
    %staging = irdl.base @uattn::@smem
    %target = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    %barrier = irdl.is i32
    irdl.operands(value: %value, staging: %staging, target: %target, offset: %offset, first_row: %first_row,
                  limit: %limit, barrier: %barrier)
  }
  // The sums of rows first_row on; 0 where a row is not below limit.
  irdl.operation @sums_load {
    %source = irdl.base @uattn::@global
    %offset = irdl.is i64
    %first_row = irdl.is i32
    %limit = irdl.is i32
    %tile = irdl.base "!builtin.vector"
    irdl.operands(source: %source, offset: %offset, first_row: %first_row, limit: %limit)
    irdl.results(tile: %tile)
  }
}
