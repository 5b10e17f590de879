// CTA c gives records first_row + 64 c on the numbers [64 c, 64 c + 64) of four
// arrays.
gpu.module @kernels {
  gpu.func @record_store(%a: !uattn.global<f32>, %b: !uattn.global<f32>, %c: !uattn.global<f32>,
                         %d: !uattn.global<f32>, %records: !uattn.global<f32>, %offset: i64,
                         %first_row: i32, %limit: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 248 : i64} {
    %start = arith.constant 0 : i64
    %c64 = arith.constant 64 : i32
    %all = arith.constant 2147483647 : i32
    %cta = "uattn.cta_index"() : () -> i32
    %before = arith.muli %cta, %c64 : i32
    %a_rows = "uattn.row_load"(%a, %start, %before, %all)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
    %b_rows = "uattn.row_load"(%b, %start, %before, %all)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
    %c_rows = "uattn.row_load"(%c, %start, %before, %all)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
    %d_rows = "uattn.row_load"(%d, %start, %before, %all)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
    %row = arith.addi %first_row, %before : i32
    "uattn.record_store"(%a_rows, %b_rows, %c_rows, %d_rows, %records, %offset, %row, %limit)
      : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>, !uattn.global<f32>,
         i64, i32, i32) -> ()
    gpu.return
  }

  // One field of `columns` records a step, as it is or its bits as a number.
  // Those of column c of step s go to out[64 (s columns + c)] on.
  gpu.func @column_read(%records: !uattn.global<f32>, %offset: i64, %steps: i32, %takes_bits: i32,
                        %columns: i32, %one_hot: !uattn.global<f32>, %out: !uattn.global<f32>)
      kernel attributes {uattn.threads = 256 : i64, uattn.smem_bytes = 65568 : i64,
                         uattn.entry_registers = 248 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : vector<64xf32>
    %ring = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                                  consumer_warps = 4 : i64} : () -> !records
    %role:2 = "uattn.role"() {registers = array<i64: 248, 248>, warpgroups = array<i64: 1, 1>}
      : () -> (i32, i32)
    %case = arith.index_cast %role#0 : i32 to index
    scf.index_switch %case
    case 0 {
      %elected = "uattn.elect"() : () -> i1
      scf.if %elected {
        scf.for %step = %c0 to %steps step %c1 : i32 {
          %record = arith.muli %step, %columns : i32
          %number32 = arith.muli %record, %c4 : i32
          %number = arith.extui %number32 : i32 to i64
          %at = arith.addi %offset, %number : i64
          "uattn.ring_produce_records"(%records, %at, %ring, %step)
            : (!uattn.global<f32>, i64, !records, i32) -> ()
        }
      }
      scf.yield
    }
    default {
      %bits_wanted = arith.cmpi ne, %takes_bits, %c0 : i32
      scf.for %step = %c0 to %steps step %c1 : i32 {
        %tile = "uattn.ring_acquire"(%ring, %step) : (!records, i32) -> !tile
        %numbers = "uattn.column_read"(%tile) {field = #field} : (!tile) -> !values
        %bits = "uattn.column_read"(%tile) {field = #field} : (!tile) -> !bits
        "uattn.warp_sync"() : () -> ()
        "uattn.async_proxy_fence"() : () -> ()
        "uattn.ring_release"(%ring, %step) : (!records, i32) -> ()
        %counts = arith.sitofp %bits : !bits to !values
        %values = arith.select %bits_wanted, %counts, %numbers : !values
        %before = arith.muli %step, %columns : i32
        scf.for %column = %c0 to %columns step %c1 : i32 {
          %at32 = arith.muli %column, %columns : i32
          %at = arith.extui %at32 : i32 to i64
          %pick = "uattn.column_load"(%one_hot, %at, %c0, %columns)
            : (!uattn.global<f32>, i64, i32, i32) -> !values
          %picked = arith.mulf %values, %pick : !values
          %rows = vector.multi_reduction <add>, %picked, %zeros [1] : !values to vector<64xf32>
          %outer = arith.addi %before, %column : i32
          %to32 = arith.muli %outer, %c64 : i32
          %to = arith.extui %to32 : i32 to i64
          "uattn.row_store"(%rows, %out, %to, %c0, %c64)
            : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
        }
      }
    }
    gpu.return
  }
}
