"builtin.module"() <{sym_name = "jit_composite_in_function"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x2x64x64xbf16>, tensor<3x64x64xbf16>) -> (tensor<1x2x64x64xbf16>, tensor<bf16>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<1x2x64x64xbf16>, %arg9: tensor<3x64x64xbf16>):
    %24 = "stablehlo.dot_general"(%arg9, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x64x64xbf16>, tensor<1x2x64x64xbf16>) -> tensor<3x64x1x2x64xbf16>
    %25 = "stablehlo.transpose"(%24) <{permutation = array<i64: 0, 2, 4, 3, 1>}> : (tensor<3x64x1x2x64xbf16>) -> tensor<3x1x64x2x64xbf16>
    %26 = "stablehlo.slice"(%25) <{limit_indices = array<i64: 1, 1, 64, 2, 64>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x64x2x64xbf16>) -> tensor<1x1x64x2x64xbf16>
    %27 = "stablehlo.reshape"(%26) : (tensor<1x1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    %28 = "stablehlo.slice"(%25) <{limit_indices = array<i64: 2, 1, 64, 2, 64>, start_indices = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x64x2x64xbf16>) -> tensor<1x1x64x2x64xbf16>
    %29 = "stablehlo.reshape"(%28) : (tensor<1x1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    %30 = "stablehlo.slice"(%25) <{limit_indices = array<i64: 3, 1, 64, 2, 64>, start_indices = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x64x2x64xbf16>) -> tensor<1x1x64x2x64xbf16>
    %31 = "stablehlo.reshape"(%30) : (tensor<1x1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    %32 = "stablehlo.composite"(%27, %29, %31) <{composite_attributes = {cap = 0.000000e+00 : f32, cap_alpha = 0.000000e+00 : f32, cap_beta = 0.000000e+00 : f32, cap_method = "none", operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi32>, resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>, sm_scale = 1.250000e-01 : f32}, decomposition = @uattn.ranker_attention, name = "uattn.ranker_attention", version = 1 : i32}> : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    %33 = "stablehlo.transpose"(%32) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x64x2x64xbf16>) -> tensor<1x2x64x64xbf16>
    %34 = "stablehlo.constant"() <{value = dense<0xFF80> : tensor<bf16>}> : () -> tensor<bf16>
    %35 = "stablehlo.reduce"(%32, %34) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg10: tensor<bf16>, %arg11: tensor<bf16>):
      %36 = "stablehlo.maximum"(%arg10, %arg11) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%36) : (tensor<bf16>) -> ()
    }) : (tensor<1x64x2x64xbf16>, tensor<bf16>) -> tensor<bf16>
    "func.return"(%33, %35) : (tensor<1x2x64x64xbf16>, tensor<bf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>, res_attrs = [{}], sym_name = "uattn.ranker_attention", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<1x64x2x64xbf16>, %arg6: tensor<1x64x2x64xbf16>, %arg7: tensor<1x64x2x64xbf16>):
    %13 = "stablehlo.convert"(%arg5) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %14 = "stablehlo.convert"(%arg6) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %15 = "stablehlo.dot_general"(%13, %14) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64x2x64xf32>, tensor<1x64x2x64xf32>) -> tensor<1x2x64x64xf32>
    %16 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x64x64xf32>
    %18 = "stablehlo.multiply"(%15, %17) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %19 = "func.call"(%18) <{callee = @softmax}> : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %20 = "stablehlo.convert"(%arg7) : (tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xf32>
    %21 = "stablehlo.dot_general"(%20, %19) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x64x2x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %22 = "stablehlo.transpose"(%21) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x2x64x64xf32>) -> tensor<1x64x2x64xf32>
    %23 = "stablehlo.convert"(%22) : (tensor<1x64x2x64xf32>) -> tensor<1x64x2x64xbf16>
    "func.return"(%23) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>, res_attrs = [{}], sym_name = "softmax", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x2x64x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %12 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%12) : (tensor<f32>) -> ()
    }) : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x64xf32>) -> tensor<1x2x64x1xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x64x1xf32>) -> tensor<1x2x64x64xf32>
    %4 = "stablehlo.subtract"(%arg0, %3) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %5 = "stablehlo.exponential"(%4) : (tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %11 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<1x2x64x64xf32>, tensor<f32>) -> tensor<1x2x64xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x64xf32>) -> tensor<1x2x64x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x64x1xf32>) -> tensor<1x2x64x64xf32>
    %10 = "stablehlo.divide"(%5, %9) : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    "func.return"(%10) : (tensor<1x2x64x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
