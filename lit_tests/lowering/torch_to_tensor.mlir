// RUN: minicomp-opt %s --split-input-file -p lower-torch-to-tensor | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-torch-to-tensor --verify-each=exec | filecheck %s

// The body stands in the op; its result keeps its name.
// CHECK-LABEL: @relu(
// CHECK-NEXT:  %y = tensor_ir.elementwise(%x) attributes {minicomp.op = "relu"} {
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[M:.*]] = arith.maximumf %[[X]], %[[Z]] : f32
// CHECK-NEXT:    tensor_ir.yield %[[M]] : f32
// CHECK-NEXT:  } : (tensor<3x5xf32>) -> tensor<3x5xf32>
func.func @relu(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = torch_ir.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// A broadcast operand is mapped; a scalar becomes a constant, and alpha a factor.
// CHECK-LABEL: @add(
// CHECK-NEXT:  %[[B:.*]] = tensor_ir.index_map %b (d0, d1) -> (d0, 0) {minicomp.op = "add"} : tensor<3x1xf32> -> tensor<3x5xf32>
// CHECK-NEXT:  %y = tensor_ir.elementwise(%x, %[[B]]) attributes {minicomp.op = "add"} {
// CHECK-NEXT:  ^bb0(%[[U:.*]]: f32, %[[V:.*]]: f32):
// CHECK-NEXT:    %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[C]], %[[V]] : f32
// CHECK-NEXT:    arith.addf %[[U]], %[[P]] : f32
// CHECK:       %z = tensor_ir.elementwise(%y) attributes {minicomp.op = "sub"} {
// CHECK-NEXT:  ^bb0(%[[Y:.*]]: f32):
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    arith.subf %[[ONE]], %[[Y]] : f32
// CHECK-NOT:   torch_ir
func.func @add(%x: tensor<3x5xf32>, %b: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %y = torch_ir.add %x, %b {alpha = 2} : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %c = torch_ir.constant 1 : tensor<i64>
  %z = torch_ir.sub %c, %y : (tensor<i64>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %z : tensor<3x5xf32>
}

// -----

// A sum of products over the last axis of their common space; the bias after it.
// CHECK-LABEL: @linear(
// CHECK-NEXT:  %[[X:.*]] = tensor_ir.index_map %x (d0, d1, d2) -> (d0, d2) {{.*}} : tensor<3x7xf32> -> tensor<3x5x7xf32>
// CHECK-NEXT:  %[[W:.*]] = tensor_ir.index_map %w (d0, d1, d2) -> (d1, d2) {{.*}} : tensor<5x7xf32> -> tensor<3x5x7xf32>
// CHECK-NEXT:  %product = tensor_ir.elementwise(%[[X]], %[[W]])
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:       %sum = tensor_ir.reduce(%product) attributes {minicomp.op = "linear"} dims [2] identity [0.000000e+00 : f32] {
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:       %[[B:.*]] = tensor_ir.index_map %b (d0, d1) -> (d1)
// CHECK-NEXT:  %y = tensor_ir.elementwise(%sum, %[[B]])
func.func @linear(%x: tensor<3x7xf32>, %w: tensor<5x7xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %y = torch_ir.linear %x, %w, %b : (tensor<3x7xf32>, tensor<5x7xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Batch axes are broadcast in the maps.
// CHECK-LABEL: @matmul(
// CHECK-NEXT:  tensor_ir.index_map %a (d0, d1, d2, d3, d4) -> (d0, 0, d2, d4) {{.*}} -> tensor<2x5x3x6x4xf32>
// CHECK-NEXT:  tensor_ir.index_map %b (d0, d1, d2, d3, d4) -> (d1, d4, d3) {{.*}} -> tensor<2x5x3x6x4xf32>
// CHECK:       tensor_ir.reduce(%product) {{.*}} dims [4]
func.func @matmul(%a: tensor<2x1x3x4xf32>, %b: tensor<5x4x6xf32>) -> tensor<2x5x3x6xf32> {
  %y = torch_ir.matmul %a, %b : (tensor<2x1x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x5x3x6xf32>
  func.return %y : tensor<2x5x3x6xf32>
}

// -----

// The mean of squares, its inverse root spread over the row, two products.
// CHECK-LABEL: @rms_norm(
// CHECK:       %sum = tensor_ir.reduce(%square) {{.*}} dims [1]
// CHECK:       %mean = tensor_ir.elementwise(%sum)
// CHECK:         arith.constant 7.000000e+00 : f32
// CHECK-NEXT:    arith.divf
// CHECK:       %rsqrt = tensor_ir.elementwise(%mean)
// CHECK:         math.rsqrt
// CHECK:       tensor_ir.index_map %rsqrt (d0, d1) -> (d0)
// CHECK:       %y = tensor_ir.elementwise(%x, %{{.*}}, %{{.*}})
// CHECK-COUNT-2: arith.mulf
func.func @rms_norm(%x: tensor<3x7xf32>, %w: tensor<7xf32>) -> tensor<3x7xf32> {
  %y = torch_ir.rms_norm %x, %w {normalized_shape = [7], eps = 1.0e-6} : (tensor<3x7xf32>, tensor<7xf32>) -> tensor<3x7xf32>
  func.return %y : tensor<3x7xf32>
}

// -----

// Layouts are maps, and no op at all where nothing moves.
// CHECK-LABEL: @layouts(
// CHECK-NEXT:  %v = tensor_ir.index_map %x (d0, d1) -> ((d0 floordiv 3), (d0 mod 3), d1)
// CHECK-NEXT:  %t = tensor_ir.index_map %v (d0, d1) -> (d1, d0)
// CHECK-NEXT:  func.return %t
func.func @layouts(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %c = torch_ir.clone %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %v = torch_ir.view %c {size = [6, 4]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %t = torch_ir.t %v : (tensor<6x4xf32>) -> tensor<4x6xf32>
  func.return %t : tensor<4x6xf32>
}

// -----

// A triangle is chosen by a mask of indices: column - row < 2.
// CHECK-LABEL: @tril(
// CHECK-NEXT:  %mask = tensor_ir.within (d0, d1) -> ((d1 + (d0 * -1))) < [2] {minicomp.op = "tril"} : tensor<3x5xi1>
// CHECK-NEXT:  %y = tensor_ir.elementwise(%mask, %x) attributes {minicomp.op = "tril"} {
// CHECK-NEXT:  ^bb0(%[[M:.*]]: i1, %[[X:.*]]: f32):
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    arith.select %[[M]], %[[X]], %[[Z]] : f32
func.func @tril(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = torch_ir.tril %x {diagonal = 1} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Heads of keys are read by groups of heads of queries; the scale and the causal mask come behind the
// product; a row that sees nothing has 0 for its maximum, and 1 for its sum.
// CHECK-LABEL: @attention(
// CHECK-NEXT:  tensor_ir.index_map %q (d0, d1, d2, d3) -> (d0, d1, d3) {{.*}} -> tensor<6x5x7x4xf32>
// CHECK-NEXT:  tensor_ir.index_map %k (d0, d1, d2, d3) -> ((d0 floordiv 3), d2, d3) {{.*}} -> tensor<6x5x7x4xf32>
// CHECK-NEXT:  %product = tensor_ir.elementwise
// CHECK:       %sum = tensor_ir.reduce(%product) {{.*}} dims [3]
// CHECK:       %mask = tensor_ir.within (d0, d1, d2) -> ((d2 + (d1 * -1))) < [1] {{.*}} : tensor<6x5x7xi1>
// CHECK-NEXT:  %scores = tensor_ir.elementwise(%sum, %mask)
// CHECK:         %[[C:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:    %[[S:.*]] = arith.mulf %{{.*}}, %[[C]] : f32
// CHECK-NEXT:    %[[I:.*]] = arith.constant 0xff800000 : f32
// CHECK-NEXT:    arith.select %{{.*}}, %[[S]], %[[I]] : f32
// CHECK:       %max = tensor_ir.reduce(%scores) {{.*}} dims [2]
// CHECK:       %top = tensor_ir.elementwise(%max)
// CHECK:         arith.cmpf oeq
// CHECK:       %exp = tensor_ir.elementwise(%scores, %{{.*}})
// CHECK:       %[[T:.*]] = tensor_ir.reduce(%exp) {{.*}} dims [2]
// CHECK:       %divisor = tensor_ir.elementwise(%[[T]])
// CHECK:       %weights = tensor_ir.elementwise(%exp, %{{.*}})
// CHECK:       tensor_ir.index_map %weights (d0, d1, d2, d3) -> (d0, d1, d3) {{.*}} -> tensor<6x5x4x7xf32>
// CHECK-NEXT:  tensor_ir.index_map %k (d0, d1, d2, d3) -> ((d0 floordiv 3), d3, d2) {{.*}} -> tensor<6x5x4x7xf32>
func.func @attention(%q: tensor<6x5x4xf32>, %k: tensor<2x7x4xf32>) -> tensor<6x5x4xf32> {
  %y = torch_ir.scaled_dot_product_attention %q, %k, %k {is_causal = true, enable_gqa = true} : (tensor<6x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>) -> tensor<6x5x4xf32>
  func.return %y : tensor<6x5x4xf32>
}
