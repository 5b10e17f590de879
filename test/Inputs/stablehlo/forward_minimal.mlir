"builtin.module"() <{sym_name = "jit_forward_minimal"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x64x2x64xbf16>, tensor<1x64x1x64xbf16>, tensor<1x64x1x64xbf16>) -> tensor<1x64x2x64xbf16>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x64x2x64xbf16>, %arg1: tensor<1x64x1x64xbf16>, %arg2: tensor<1x64x1x64xbf16>):
    %0 = "stablehlo.custom_call"(%arg0, %arg1, %arg2) <{api_version = 1 : i32, backend_config = "", call_target_name = "uattn.ranker_attention", called_computations = [], has_side_effect = false, operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>], output_operand_aliases = [], result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>]}> {mhlo.backend_config = {cap_method = "none", operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi32>, resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>, sm_scale = 1.250000e-01 : f32}} : (tensor<1x64x2x64xbf16>, tensor<1x64x1x64xbf16>, tensor<1x64x1x64xbf16>) -> tensor<1x64x2x64xbf16>
    "func.return"(%0) : (tensor<1x64x2x64xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
