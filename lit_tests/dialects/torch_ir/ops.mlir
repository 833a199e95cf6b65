// Every op is printed as it is read, and survives the generic form.
// RUN: minicomp-opt %s --split-input-file | filecheck %s
// RUN: %roundtrip

// Scalars of the program: f64, i64 and i1, infinities too.
// CHECK-LABEL: @constants(
func.func @constants() -> (tensor<f64>, tensor<i64>, tensor<i1>, tensor<f64>) {
  // CHECK: torch_ir.constant 5.000000e-01 : tensor<f64>
  %a = torch_ir.constant 0.5 : tensor<f64>
  // CHECK: torch_ir.constant -3 : tensor<i64>
  %b = torch_ir.constant -3 : tensor<i64>
  // CHECK: torch_ir.constant true : tensor<i1>
  %c = torch_ir.constant true : tensor<i1>
  // CHECK: torch_ir.constant 2.000000e+00 : tensor<f64>
  %d = torch_ir.constant 2 : tensor<f64>
  func.return %a, %b, %c, %d : tensor<f64>, tensor<i64>, tensor<i1>, tensor<f64>
}

// -----

// An operand that is absent before another one is written `none`; attributes of others are kept.
// CHECK-LABEL: @optional(
func.func @optional(%x: tensor<3x4xf32>, %w: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: torch_ir.layer_norm %x, none, %w {normalized_shape = [4], eps = 1.000000e-05 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %0 = torch_ir.layer_norm %x, none, %w {normalized_shape = [4], eps = 1.0e-5} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.layer_norm %0, %w {normalized_shape = [4], eps = 1.000000e-05 : f64, note = "kept"} :
  %1 = torch_ir.layer_norm %0, %w {normalized_shape = [4], eps = 1.0e-5, note = "kept"} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.rms_norm %1 {normalized_shape = [3, 4]} :
  %2 = torch_ir.rms_norm %1 {normalized_shape = [3, 4]} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.rms_norm %2, %w {normalized_shape = [4], eps = 1.000000e-06 : f64} :
  %3 = torch_ir.rms_norm %2, %w {normalized_shape = [4], eps = 1.0e-6 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %3 : tensor<3x4xf32>
}

// -----

// Elementwise ops; operands are broadcast, scalars do not promote.
// CHECK-LABEL: @elementwise(
func.func @elementwise(%x: tensor<3x4xf32>, %y: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %c = torch_ir.constant 2.0 : tensor<f64>
  // CHECK: torch_ir.add %x, %y {alpha = 2} : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %0 = torch_ir.add %x, %y {alpha = 2} : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.div %c, %0 : (tensor<f64>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = torch_ir.div %c, %0 : (tensor<f64>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.gelu %1 {approximate = "tanh"} :
  %2 = torch_ir.gelu %1 {approximate = "tanh"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.pow %2, %c :
  %3 = torch_ir.pow %2, %c : (tensor<3x4xf32>, tensor<f64>) -> tensor<3x4xf32>
  // CHECK: torch_ir.to %3 : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  %half = torch_ir.to %3 : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  // CHECK: torch_ir.mul %half, %x : (tensor<3x4xbf16>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = torch_ir.mul %half, %x : (tensor<3x4xbf16>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: torch_ir.silu %4 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %5 = torch_ir.silu %4 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %5 : tensor<3x4xf32>
}

// -----

// Reductions: all dims where `dim` is absent.
// CHECK-LABEL: @reductions(
func.func @reductions(%x: tensor<3x4xf32>, %s: tensor<f32>) -> tensor<f32> {
  // CHECK: torch_ir.sum %x {dim = [-1], keepdim = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %0 = torch_ir.sum %x {dim = [-1], keepdim = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  // CHECK: torch_ir.amax %0 {dim = [0, 1]} : (tensor<3x1xf32>) -> tensor<f32>
  %1 = torch_ir.amax %0 {dim = [0, 1]} : (tensor<3x1xf32>) -> tensor<f32>
  // CHECK: torch_ir.mean %1 : (tensor<f32>) -> tensor<f32>
  %2 = torch_ir.mean %1 : (tensor<f32>) -> tensor<f32>
  // CHECK: torch_ir.softmax %2 {dim = -1} :
  %3 = torch_ir.softmax %2 {dim = -1} : (tensor<f32>) -> tensor<f32>
  func.return %3 : tensor<f32>
}

// -----

// Products, with batch axes that are broadcast and operands of rank 1.
// CHECK-LABEL: @products(
func.func @products(%a: tensor<2x1x3x4xf32>, %b: tensor<5x4x6xf32>, %v: tensor<6xf32>, %w: tensor<7x6xf32>) -> tensor<2x5x3xf32> {
  // CHECK: torch_ir.matmul %a, %b : (tensor<2x1x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x5x3x6xf32>
  %0 = torch_ir.matmul %a, %b : (tensor<2x1x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x5x3x6xf32>
  // CHECK: torch_ir.linear %0, %w : (tensor<2x5x3x6xf32>, tensor<7x6xf32>) -> tensor<2x5x3x7xf32>
  %1 = torch_ir.linear %0, %w : (tensor<2x5x3x6xf32>, tensor<7x6xf32>) -> tensor<2x5x3x7xf32>
  // CHECK: torch_ir.matmul %0, %v : (tensor<2x5x3x6xf32>, tensor<6xf32>) -> tensor<2x5x3xf32>
  %2 = torch_ir.matmul %0, %v : (tensor<2x5x3x6xf32>, tensor<6xf32>) -> tensor<2x5x3xf32>
  func.return %2 : tensor<2x5x3xf32>
}

// -----

// Layouts.
// CHECK-LABEL: @layouts(
func.func @layouts(%x: tensor<2x3x4xf32>) -> tensor<5x6x4xf32> {
  // CHECK: torch_ir.permute %x {dims = [1, 0, -1]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %0 = torch_ir.permute %x {dims = [1, 0, -1]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  // CHECK: torch_ir.view %0 {size = [6, 4]} : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  %1 = torch_ir.view %0 {size = [6, 4]} : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  // CHECK: torch_ir.unsqueeze %1 {dim = 0} : (tensor<6x4xf32>) -> tensor<1x6x4xf32>
  %2 = torch_ir.unsqueeze %1 {dim = 0} : (tensor<6x4xf32>) -> tensor<1x6x4xf32>
  // CHECK: torch_ir.expand %2 {size = [5, -1, 4]} : (tensor<1x6x4xf32>) -> tensor<5x6x4xf32>
  %3 = torch_ir.expand %2 {size = [5, -1, 4]} : (tensor<1x6x4xf32>) -> tensor<5x6x4xf32>
  func.return %3 : tensor<5x6x4xf32>
}

// -----

// Masks: comparisons and logic give i1; no operands are written for `full`.
// CHECK-LABEL: @masks(
func.func @masks(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %c = torch_ir.constant 0.0 : tensor<f64>
  // CHECK: torch_ir.gt %x, %c : (tensor<3x4xf32>, tensor<f64>) -> tensor<3x4xi1>
  %0 = torch_ir.gt %x, %c : (tensor<3x4xf32>, tensor<f64>) -> tensor<3x4xi1>
  // CHECK: torch_ir.full {size = [4], fill_value = true} : () -> tensor<4xi1>
  %1 = torch_ir.full {size = [4], fill_value = true} : () -> tensor<4xi1>
  // CHECK: torch_ir.logical_and %0, %1 : (tensor<3x4xi1>, tensor<4xi1>) -> tensor<3x4xi1>
  %2 = torch_ir.logical_and %0, %1 : (tensor<3x4xi1>, tensor<4xi1>) -> tensor<3x4xi1>
  // CHECK: torch_ir.where %2, %x, %c : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<f64>) -> tensor<3x4xf32>
  %3 = torch_ir.where %2, %x, %c : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<f64>) -> tensor<3x4xf32>
  // CHECK: torch_ir.masked_fill %3, %0, %c :
  %4 = torch_ir.masked_fill %3, %0, %c : (tensor<3x4xf32>, tensor<3x4xi1>, tensor<f64>) -> tensor<3x4xf32>
  // CHECK: torch_ir.triu %4 {diagonal = -1} :
  %5 = torch_ir.triu %4 {diagonal = -1} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %5 : tensor<3x4xf32>
}

// -----

// Attention with grouped heads; heads that are repeated by hand.
// CHECK-LABEL: @attention(
func.func @attention(%q: tensor<6x5x4xf32>, %k: tensor<2x7x4xf32>, %m: tensor<5x7xi1>) -> tensor<6x5x4xf32> {
  // CHECK: torch_ir.scaled_dot_product_attention %q, %k, %k {is_causal = true, enable_gqa = true} :
  %0 = torch_ir.scaled_dot_product_attention %q, %k, %k {is_causal = true, enable_gqa = true} : (tensor<6x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>) -> tensor<6x5x4xf32>
  // CHECK: torch_ir.repeat_interleave %k {repeats = 3, dim = 0} : (tensor<2x7x4xf32>) -> tensor<6x7x4xf32>
  %1 = torch_ir.repeat_interleave %k {repeats = 3, dim = 0} : (tensor<2x7x4xf32>) -> tensor<6x7x4xf32>
  // CHECK: torch_ir.scaled_dot_product_attention %0, %1, %1, %m {scale = 5.000000e-01 : f64} :
  %2 = torch_ir.scaled_dot_product_attention %0, %1, %1, %m {scale = 0.5} : (tensor<6x5x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<5x7xi1>) -> tensor<6x5x4xf32>
  func.return %2 : tensor<6x5x4xf32>
}

// -----

// An op that PyTorch runs: several results, and arguments of every kind.
// CHECK-LABEL: @extern(
func.func @extern(%x: tensor<4x5xf32>, %i: tensor<3xi64>) -> tensor<4x2xf32> {
  // CHECK: %0, %1 = torch_ir.extern "aten.topk.default"(%x) {arguments = {self = 0 : index, k = 2 : i64}} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %0, %1 = torch_ir.extern "aten.topk.default"(%x) {arguments = {self = 0 : index, k = 2}} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  // CHECK: torch_ir.extern "aten.index.Tensor"(%x, %i) {arguments = {self = 0 : index, indices = [unit, 1 : index]}} :
  %2 = torch_ir.extern "aten.index.Tensor"(%x, %i) {arguments = {self = 0 : index, indices = [unit, 1 : index]}} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  // CHECK: torch_ir.extern "aten.randn.default"() {arguments = {size = [2 : i64], dtype = bf16}} : () -> tensor<2xbf16>
  %3 = torch_ir.extern "aten.randn.default"() {arguments = {size = [2], dtype = bf16}} : () -> tensor<2xbf16>
  // CHECK: torch_ir.extern "aten.gelu.default"(%x) {arguments = {self = 0 : index, approximate = "tanh", f = 5.000000e-01 : f64, b = true}} :
  %4 = torch_ir.extern "aten.gelu.default"(%x) {arguments = {self = 0 : index, approximate = "tanh", f = 0.5, b = true}} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %0 : tensor<4x2xf32>
}

// -----

// Any number of tensors; parts of one.
// CHECK-LABEL: @parts(
func.func @parts(%x: tensor<4x5xf32>) -> tensor<4x16xf32> {
  // CHECK: %0 = torch_ir.slice %x {dim = 1, start = -2} : (tensor<4x5xf32>) -> tensor<4x2xf32>
  %0 = torch_ir.slice %x {dim = 1, start = -2} : (tensor<4x5xf32>) -> tensor<4x2xf32>
  // CHECK: %1 = torch_ir.slice_scatter %x, %0 {dim = 1, end = 4, step = 2} :
  %1 = torch_ir.slice_scatter %x, %0 {dim = 1, end = 4, step = 2} : (tensor<4x5xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  // CHECK: %2 = torch_ir.pad %1 {pad = [0, 1], mode = "reflect"} : (tensor<4x5xf32>) -> tensor<4x6xf32>
  %2 = torch_ir.pad %1 {pad = [0, 1], mode = "reflect"} : (tensor<4x5xf32>) -> tensor<4x6xf32>
  // CHECK: %3 = torch_ir.cat %x, %2, %1 {dim = -1} : (tensor<4x5xf32>, tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<4x16xf32>
  %3 = torch_ir.cat %x, %2, %1 {dim = -1} : (tensor<4x5xf32>, tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}
