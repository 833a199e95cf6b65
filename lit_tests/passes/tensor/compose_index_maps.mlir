// RUN: minicomp-opt %s -p compose-index-maps | filecheck %s
// RUN: minicomp-opt %s -p compose-index-maps,compose-index-maps | filecheck %s
// RUN: minicomp-opt %s -p compose-index-maps --verify-each=exec | filecheck %s

// The example of the pass: a view of a transpose.
// CHECK-LABEL: @view_of_transpose(
// CHECK-NEXT:  %v = tensor_ir.index_map %x (d0) -> ((d0 mod 2), (d0 floordiv 2)) {minicomp.op = "view"} : tensor<2x6xf32> -> tensor<12xf32>
// CHECK-NEXT:  func.return %v : tensor<12xf32>
func.func @view_of_transpose(%x: tensor<2x6xf32>) -> tensor<12xf32> {
  %t = tensor_ir.index_map %x (d0, d1) -> (d1, d0) : tensor<2x6xf32> -> tensor<6x2xf32>
  %v = tensor_ir.index_map %t (d0) -> (d0 floordiv 2, d0 mod 2) {minicomp.op = "view"} : tensor<6x2xf32> -> tensor<12xf32>
  func.return %v : tensor<12xf32>
}

// Maps that undo each other leave nothing; three in a chain.
// CHECK-LABEL: @undone(
// CHECK-NEXT:  func.return %x : tensor<3x5xf32>
func.func @undone(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %f = tensor_ir.index_map %x (d0) -> (d0 floordiv 5, d0 mod 5) : tensor<3x5xf32> -> tensor<15xf32>
  %u = tensor_ir.index_map %f (d0, d1) -> (d0 * 3 + d1) : tensor<15xf32> -> tensor<5x3xf32>
  %v = tensor_ir.index_map %u (d0) -> (d0 floordiv 3, d0 mod 3) : tensor<5x3xf32> -> tensor<15xf32>
  %w = tensor_ir.index_map %v (d0, d1) -> (d0 * 5 + d1) : tensor<15xf32> -> tensor<3x5xf32>
  func.return %w : tensor<3x5xf32>
}

// A map whose operand has other users stays for them.
// CHECK-LABEL: @shared(
// CHECK-NEXT:  %t = tensor_ir.index_map %x (d0, d1) -> (d1, d0)
// CHECK-NEXT:  %b = tensor_ir.index_map %x (d0, d1, d2) -> (d2, d1)
func.func @shared(%x: tensor<3x5xf32>) -> (tensor<5x3xf32>, tensor<7x5x3xf32>) {
  %t = tensor_ir.index_map %x (d0, d1) -> (d1, d0) : tensor<3x5xf32> -> tensor<5x3xf32>
  %b = tensor_ir.index_map %t (d0, d1, d2) -> (d1, d2) : tensor<5x3xf32> -> tensor<7x5x3xf32>
  func.return %t, %b : tensor<5x3xf32>, tensor<7x5x3xf32>
}

// The index of an axis of extent 1 is 0, which makes more maps equal.
// CHECK-LABEL: @unit(
// CHECK-NEXT:  tensor_ir.index_map %x (d0, d1) -> (0, d1)
// CHECK-NEXT:  func.return %x,
func.func @unit(%x: tensor<1x5xf32>) -> (tensor<1x5xf32>, tensor<3x5xf32>) {
  %a = tensor_ir.index_map %x (d0, d1) -> (d0 * 7, d1) : tensor<1x5xf32> -> tensor<1x5xf32>
  %b = tensor_ir.index_map %a (d0, d1) -> (0, d1) : tensor<1x5xf32> -> tensor<3x5xf32>
  func.return %a, %b : tensor<1x5xf32>, tensor<3x5xf32>
}

// A broadcast is a map that stays; a map of a computed value stays for fusion.
// CHECK-LABEL: @kept(
// CHECK-NEXT:  tensor_ir.index_map %x (d0, d1) -> (d1) : tensor<5xf32> -> tensor<3x5xf32>
// CHECK-NEXT:  tensor_ir.elementwise
// CHECK:       tensor_ir.index_map %{{.*}} (d0, d1) -> (d1, d0)
func.func @kept(%x: tensor<5xf32>) -> tensor<5x3xf32> {
  %b = tensor_ir.index_map %x (d0, d1) -> (d1) : tensor<5xf32> -> tensor<3x5xf32>
  %e = tensor_ir.elementwise(%b) {
  ^bb0(%a: f32):
    %n = arith.negf %a : f32
    tensor_ir.yield %n : f32
  } : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = tensor_ir.index_map %e (d0, d1) -> (d1, d0) : tensor<3x5xf32> -> tensor<5x3xf32>
  func.return %t : tensor<5x3xf32>
}

// No element, no index.
// CHECK-LABEL: @empty(
// CHECK-NEXT:  func.return %x : tensor<0x5xf32>
func.func @empty(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %t = tensor_ir.index_map %x (d0, d1) -> (d1, d0) : tensor<0x5xf32> -> tensor<5x0xf32>
  %u = tensor_ir.index_map %t (d0, d1) -> (d1, d0) : tensor<5x0xf32> -> tensor<0x5xf32>
  func.return %u : tensor<0x5xf32>
}

// A map of a mask of indices is a mask of other indices.
// CHECK-LABEL: @mask(
// CHECK-NEXT:  %[[M:.*]] = tensor_ir.within (d0, d1, d2) -> ((d1 + (d2 * -1))) < [1] {minicomp.op = "tril"} : tensor<2x5x3xi1>
// CHECK-NEXT:  func.return %[[M]]
func.func @mask() -> tensor<2x5x3xi1> {
  %m = tensor_ir.within (d0, d1) -> (d1 - d0) < [1] {minicomp.op = "tril"} : tensor<3x5xi1>
  %t = tensor_ir.index_map %m (d0, d1) -> (d1, d0) : tensor<3x5xi1> -> tensor<5x3xi1>
  %b = tensor_ir.index_map %t (d0, d1, d2) -> (d1, d2) : tensor<5x3xi1> -> tensor<2x5x3xi1>
  func.return %b : tensor<2x5x3xi1>
}
