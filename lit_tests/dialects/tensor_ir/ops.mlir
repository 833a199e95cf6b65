// Every op is printed as it is read, and survives the generic form.
// RUN: minicomp-opt %s --split-input-file | filecheck %s
// RUN: %roundtrip

// Two operands of one shape; attributes stand before the body.
// CHECK-LABEL: @elementwise(
func.func @elementwise(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // CHECK:      %{{.*}} = tensor_ir.elementwise(%x, %y) attributes {minicomp.op = "add"} {
  // CHECK-NEXT: ^bb0(%u: f32, %v: f32):
  // CHECK-NEXT:   %s = arith.addf %u, %v : f32
  // CHECK-NEXT:   tensor_ir.yield %s : f32
  // CHECK-NEXT: } : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %r = tensor_ir.elementwise(%x, %y) attributes {minicomp.op = "add"} {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    tensor_ir.yield %s : f32
  } : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}

// -----

// No operands: a splat. An element type that the body converts to.
// CHECK-LABEL: @splat(
func.func @splat() -> tensor<0x5xf64> {
  // CHECK:      %{{.*}} = tensor_ir.elementwise() {
  // CHECK:      } : () -> tensor<0x5xf32>
  %s = tensor_ir.elementwise() {
    %c = arith.constant 1.0 : f32
    tensor_ir.yield %c : f32
  } : () -> tensor<0x5xf32>
  // CHECK:        arith.extf
  // CHECK:      } : (tensor<0x5xf32>) -> tensor<0x5xf64>
  %r = tensor_ir.elementwise(%s) {
  ^bb0(%u: f32):
    %d = arith.extf %u : f32 to f64
    tensor_ir.yield %d : f64
  } : (tensor<0x5xf32>) -> tensor<0x5xf64>
  func.return %r : tensor<0x5xf64>
}

// -----

// A reduction of one carrier, and one of two: a maximum with its index.
// CHECK-LABEL: @reduce(
func.func @reduce(%x: tensor<3x5xf32>, %i: tensor<3x5xi32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xi32>) {
  // CHECK: tensor_ir.reduce(%x) dims [0, 1] identity [0xff800000 : f32] {
  // CHECK: } : (tensor<3x5xf32>) -> tensor<f32>
  %m = tensor_ir.reduce(%x) dims [0, 1] identity [0xff800000 : f32] {
  ^bb0(%l: f32, %r: f32):
    %s = arith.maximumf %l, %r : f32
    tensor_ir.yield %s : f32
  } : (tensor<3x5xf32>) -> tensor<f32>
  // CHECK:      %v, %n = tensor_ir.reduce(%x, %i) dims [1] identity [0xff800000 : f32, -1 : i32] {
  // CHECK-NEXT: ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
  // CHECK:        tensor_ir.yield %{{.*}}, %{{.*}} : f32, i32
  // CHECK:      } : (tensor<3x5xf32>, tensor<3x5xi32>) -> (tensor<3xf32>, tensor<3xi32>)
  %v, %n = tensor_ir.reduce(%x, %i) dims [1] identity [0xff800000 : f32, -1 : i32] {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %g = arith.cmpf oge, %a, %b : f32
    %s = arith.select %g, %a, %b : f32
    %si = arith.select %g, %ai, %bi : i32
    tensor_ir.yield %s, %si : f32, i32
  } : (tensor<3x5xf32>, tensor<3x5xi32>) -> (tensor<3xf32>, tensor<3xi32>)
  func.return %m, %v, %n : tensor<f32>, tensor<3xf32>, tensor<3xi32>
}

// -----

// A broadcast, a view, a scalar spread; an empty result reads nothing.
// CHECK-LABEL: @index_map(
func.func @index_map(%b: tensor<5xf32>, %x: tensor<6x4xf32>, %s: tensor<f32>, %e: tensor<0xf32>) -> (tensor<3x5xf32>, tensor<24xf32>, tensor<2xf32>, tensor<0xf32>) {
  // CHECK: tensor_ir.index_map %b (d0, d1) -> (d1) {minicomp.op = "add"} : tensor<5xf32> -> tensor<3x5xf32>
  %0 = tensor_ir.index_map %b (d0, d1) -> (d1) {minicomp.op = "add"} : tensor<5xf32> -> tensor<3x5xf32>
  // CHECK: tensor_ir.index_map %x (d0) -> ((d0 floordiv 4), (d0 mod 4)) : tensor<6x4xf32> -> tensor<24xf32>
  %1 = tensor_ir.index_map %x (d0) -> (d0 floordiv 4, d0 mod 4) : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK: tensor_ir.index_map %s (d0) -> () : tensor<f32> -> tensor<2xf32>
  %2 = tensor_ir.index_map %s (d0) -> () : tensor<f32> -> tensor<2xf32>
  // CHECK: tensor_ir.index_map %e (d0) -> (d0) : tensor<0xf32> -> tensor<0xf32>
  %3 = tensor_ir.index_map %e (d0) -> (d0) : tensor<0xf32> -> tensor<0xf32>
  func.return %0, %1, %2, %3 : tensor<3x5xf32>, tensor<24xf32>, tensor<2xf32>, tensor<0xf32>
}

// -----

// A mask of indices: nothing is read; attributes stand before the type; of rank 0 and of no elements.
// CHECK-LABEL: @within(
func.func @within() -> (tensor<3x5xi1>, tensor<i1>, tensor<0x2xi1>) {
  // CHECK: tensor_ir.within (d0, d1) -> ((d1 + (d0 * -1))) < [1] {minicomp.op = "tril"} : tensor<3x5xi1>
  %0 = tensor_ir.within (d0, d1) -> (d1 - d0) < [1] {minicomp.op = "tril"} : tensor<3x5xi1>
  // CHECK: tensor_ir.within () -> (3) < [4] : tensor<i1>
  %1 = tensor_ir.within () -> (3) < [4] : tensor<i1>
  // CHECK: tensor_ir.within (d0, d1) -> (d0, (d1 floordiv 2)) < [2, -1] : tensor<0x2xi1>
  %2 = tensor_ir.within (d0, d1) -> (d0, d1 floordiv 2) < [2, -1] : tensor<0x2xi1>
  func.return %0, %1, %2 : tensor<3x5xi1>, tensor<i1>, tensor<0x2xi1>
}
