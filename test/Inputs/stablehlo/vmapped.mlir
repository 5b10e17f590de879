"builtin.module"() <{sym_name = "jit_vmapped"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>) -> tensor<3x1x64x2x64xbf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<3x1x64x2x64xbf16>, %arg9: tensor<3x1x64x2x64xbf16>, %arg10: tensor<3x1x64x2x64xbf16>):
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<3x1x64x2x64xbf16>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16:5 = "stablehlo.while"(%arg8, %arg9, %arg10, %15, %14) ({
    ^bb0(%arg16: tensor<3x1x64x2x64xbf16>, %arg17: tensor<3x1x64x2x64xbf16>, %arg18: tensor<3x1x64x2x64xbf16>, %arg19: tensor<i32>, %arg20: tensor<3x1x64x2x64xbf16>):
      %24 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %25 = "stablehlo.compare"(%arg19, %24) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%25) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg11: tensor<3x1x64x2x64xbf16>, %arg12: tensor<3x1x64x2x64xbf16>, %arg13: tensor<3x1x64x2x64xbf16>, %arg14: tensor<i32>, %arg15: tensor<3x1x64x2x64xbf16>):
      %17 = "func.call"(%arg11, %arg14) <{callee = @dynamic_index_in_dim}> : (tensor<3x1x64x2x64xbf16>, tensor<i32>) -> tensor<1x64x2x64xbf16>
      %18 = "func.call"(%arg12, %arg14) <{callee = @dynamic_index_in_dim}> : (tensor<3x1x64x2x64xbf16>, tensor<i32>) -> tensor<1x64x2x64xbf16>
      %19 = "func.call"(%arg13, %arg14) <{callee = @dynamic_index_in_dim}> : (tensor<3x1x64x2x64xbf16>, tensor<i32>) -> tensor<1x64x2x64xbf16>
      %20 = "func.call"(%17, %18, %19) <{callee = @closed_call}> : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
      %21 = "func.call"(%arg15, %20, %arg14) <{callee = @dynamic_update_index_in_dim}> : (tensor<3x1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<i32>) -> tensor<3x1x64x2x64xbf16>
      %22 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %23 = "stablehlo.add"(%arg14, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg11, %arg12, %arg13, %23, %21) : (tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<i32>, tensor<3x1x64x2x64xbf16>) -> ()
    }) : (tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<i32>, tensor<3x1x64x2x64xbf16>) -> (tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<3x1x64x2x64xbf16>, tensor<i32>, tensor<3x1x64x2x64xbf16>)
    "func.return"(%16#4) : (tensor<3x1x64x2x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x1x64x2x64xbf16>, tensor<i32>) -> tensor<1x64x2x64xbf16>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<3x1x64x2x64xbf16>, %arg7: tensor<i32>):
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.dynamic_slice"(%arg6, %arg7, %7, %8, %9, %10) <{slice_sizes = array<i64: 1, 1, 64, 2, 64>}> : (tensor<3x1x64x2x64xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x64x2x64xbf16>
    %12 = "stablehlo.reshape"(%11) : (tensor<1x1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    "func.return"(%12) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>, res_attrs = [{}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<1x64x2x64xbf16>, %arg4: tensor<1x64x2x64xbf16>, %arg5: tensor<1x64x2x64xbf16>):
    %6 = "stablehlo.custom_call"(%arg3, %arg4, %arg5) <{api_version = 1 : i32, backend_config = "", call_target_name = "uattn.ranker_attention", called_computations = [], has_side_effect = false, operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>], output_operand_aliases = [], result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>]}> {mhlo.backend_config = {cap = 0.000000e+00 : f32, cap_alpha = 0.000000e+00 : f32, cap_beta = 0.000000e+00 : f32, cap_method = "none", operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi32>, resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>, sm_scale = 1.250000e-01 : f32}} : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
    "func.return"(%6) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<i32>) -> tensor<3x1x64x2x64xbf16>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x1x64x2x64xbf16>, %arg1: tensor<1x64x2x64xbf16>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<1x64x2x64xbf16>) -> tensor<1x1x64x2x64xbf16>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1, %2, %3, %4) : (tensor<3x1x64x2x64xbf16>, tensor<1x1x64x2x64xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x64x2x64xbf16>
    "func.return"(%5) : (tensor<3x1x64x2x64xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
