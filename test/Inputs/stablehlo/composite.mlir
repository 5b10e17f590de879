"builtin.module"() <{sym_name = "jit_composite"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<1x64x2x64xbf16>, %arg8: tensor<1x64x2x64xbf16>, %arg9: tensor<1x64x2x64xbf16>):
    %26 = "stablehlo.composite"(%arg7, %arg8, %arg9) <{composite_attributes = {cap = 0.000000e+00 : f32, cap_alpha = 0.000000e+00 : f32, cap_beta = 0.000000e+00 : f32, cap_method = "none", operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi32>, resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>, sm_scale = 1.250000e-01 : f32}, decomposition = @uattn.ranker_attention, name = "uattn.ranker_attention", version = 1 : i32}> : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    "func.return"(%26) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>, res_attrs = [{}], sym_name = "uattn.ranker_attention", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x64x2x64xbf16>, %arg1: tensor<1x64x2x64xbf16>, %arg2: tensor<1x64x2x64xbf16>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %1 = "stablehlo.convert"(%arg1) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %2 = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64x2x64xf32>, tensor<1x64x2x64xf32>) -> tensor<1x2x64x64xf32>
    %3 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x64x64xf32>
    %5 = "stablehlo.multiply"(%2, %4) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %6 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %25 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%25) : (tensor<f32>) -> ()
    }) : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %8 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x64xf32>
    %10 = "stablehlo.maximum"(%9, %7) : (tensor<1x2x64xf32>, tensor<1x2x64xf32>) -> tensor<1x2x64xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x64xf32>) -> tensor<1x2x64x1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x64x1xf32>) -> tensor<1x2x64x64xf32>
    %13 = "stablehlo.subtract"(%5, %12) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %14 = "stablehlo.exponential"(%13) : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %24 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%24) : (tensor<f32>) -> ()
    }) : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x64xf32>) -> tensor<1x2x64x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x64x1xf32>) -> tensor<1x2x64x64xf32>
    %19 = "stablehlo.divide"(%14, %18) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %20 = "stablehlo.convert"(%arg2) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %21 = "stablehlo.dot_general"(%20, %19) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64x2x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %22 = "stablehlo.transpose"(%21) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x2x64x64xf32>) -> tensor<1x64x2x64xf32>
    %23 = "stablehlo.convert"(%22) : (tensor<1x64x2x64xf32>) -> tensor<1x64x2x64xbf16>
    "func.return"(%23) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
