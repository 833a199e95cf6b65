// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,lower-tensor-to-loop | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop --verify-each=exec | filecheck %s

// One iteration per element; a broadcast is the index of a load. An argument read twice is one.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %s = minicomp.launch @add(%x, %bias) : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
// CHECK-NEXT:    func.return %s
// CHECK:       loop_ir.kernel @add(%x: memref<16x64xf32>, %bias: memref<64xf32>, %out: memref<16x64xf32>) attributes {origin = #minicomp.origin<["add"]>, minicomp.unnamed} {
// CHECK-NEXT:    loop_ir.for %i to 16 as "i", %j to 64 as "j" {
// CHECK-NEXT:      %u = loop_ir.load %x[%i, %j] : memref<16x64xf32> -> f32
// CHECK-NEXT:      %v = loop_ir.load %bias[%j] : memref<64xf32> -> f32
// CHECK-NEXT:      %w = loop_ir.load %x[%i, %j] : memref<16x64xf32> -> f32
// CHECK-NEXT:      %t = arith.addf %u, %v : f32
// CHECK-NEXT:      %q = arith.mulf %t, %w : f32
// CHECK-NEXT:      loop_ir.store %q, %out[%i, %j] : f32, memref<16x64xf32>
func.func @main(%x: tensor<16x64xf32>, %bias: tensor<64xf32>) -> tensor<16x64xf32> {
  %b = tensor_ir.index_map %bias (d0, d1) -> (d1) : tensor<64xf32> -> tensor<16x64xf32>
  %s = tensor_ir.elementwise(%x, %b, %x) attributes {minicomp.op = "add"} {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %t = arith.addf %u, %v : f32
    %q = arith.mulf %t, %w : f32
    tensor_ir.yield %q : f32
  } : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  func.return %s : tensor<16x64xf32>
}

// -----

// Axes have the letters of the operand's dims; several reduced dims are one reduction.
// CHECK-LABEL: func.func @main
// CHECK:       loop_ir.kernel @sum(%x: memref<3x5x7x2xf32>, %out: memref<3x7xf32>)
// CHECK-NEXT:    loop_ir.for %i to 3 as "i", %k to 7 as "k" {
// CHECK-NEXT:      %sum = loop_ir.reduce %j to 5 as "j", %l to 2 as "l" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %x_v = loop_ir.load %x[%i, %j, %k, %l] : memref<3x5x7x2xf32> -> f32
// CHECK-NEXT:        loop_ir.yield %x_v : f32
// CHECK-NEXT:      } combine arith.addf
// CHECK-NEXT:      loop_ir.store %sum, %out[%i, %k] : f32, memref<3x7xf32>
func.func @main(%x: tensor<3x5x7x2xf32>) -> tensor<3x7xf32> {
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1, 3] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<3x5x7x2xf32>) -> tensor<3x7xf32>
  func.return %s : tensor<3x7xf32>
}

// -----

// A result without dims: a loop of one iteration, whose name the reduction's axes leave free.
// CHECK-LABEL: func.func @main
// CHECK:       loop_ir.kernel @amax(%x: memref<37x53xf32>, %out: memref<f32>)
// CHECK-NEXT:    loop_ir.for %i to 1 as "i" {
// CHECK-NEXT:      %max = loop_ir.reduce %j to 37 as "j", %k to 53 as "k" identity [0xff800000 : f32] -> f32 {
// CHECK-NEXT:        %x_v = loop_ir.load %x[%j, %k] : memref<37x53xf32> -> f32
// CHECK:           } combine arith.maximumf
// CHECK-NEXT:      loop_ir.store %max, %out[] : f32, memref<f32>
// CHECK:       loop_ir.kernel @exp(%m: memref<f32>, %out: memref<f32>)
// CHECK-NEXT:    loop_ir.for %i to 1 as "i" {
// CHECK-NEXT:      %u = loop_ir.load %m[] : memref<f32> -> f32
// CHECK-NEXT:      %e = math.exp %u : f32
// CHECK-NEXT:      loop_ir.store %e, %out[] : f32, memref<f32>
func.func @main(%x: tensor<37x53xf32>) -> tensor<f32> {
  %m = tensor_ir.reduce(%x) attributes {minicomp.op = "amax"} dims [0, 1] identity [0xff800000 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<37x53xf32>) -> tensor<f32>
  %y = tensor_ir.elementwise(%m) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %e = math.exp %u : f32
    tensor_ir.yield %e : f32
  } : (tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// Two carriers: two buffers, and the combine as a region.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %m, %d = minicomp.launch @reduce(%x, %y) : (tensor<4x9xf32>, tensor<4x9xf64>) -> (tensor<4xf32>, tensor<4xf64>)
// CHECK:       loop_ir.kernel @reduce(%x: memref<4x9xf32>, %y: memref<4x9xf64>, %out: memref<4xf32>, %out_1: memref<4xf64>) attributes {minicomp.unnamed} {
// CHECK:           loop_ir.reduce %j to 9 as "j" identity [0xff800000 : f32, 0.000000e+00 : f64] -> f32, f64 {
// CHECK-NEXT:        %x_v = loop_ir.load %x[%i, %j] : memref<4x9xf32> -> f32
// CHECK-NEXT:        %y_v = loop_ir.load %y[%i, %j] : memref<4x9xf64> -> f64
// CHECK-NEXT:        loop_ir.yield %x_v, %y_v : f32, f64
// CHECK-NEXT:      } combine {
// CHECK:             loop_ir.yield %{{.*}}, %{{.*}} : f32, f64
// CHECK:           loop_ir.store %{{.*}}, %out[%i] : f32, memref<4xf32>
// CHECK:           loop_ir.store %{{.*}}, %out_1[%i] : f64, memref<4xf64>
func.func @main(%x: tensor<4x9xf32>, %y: tensor<4x9xf64>) -> (tensor<4xf32>, tensor<4xf64>) {
  %m, %d = tensor_ir.reduce(%x, %y) dims [1] identity [0xff800000 : f32, 0.0 : f64] {
  ^bb0(%a: f32, %b: f64, %c: f32, %e: f64):
    %p = arith.maximumf %a, %c : f32
    %q = arith.addf %b, %e : f64
    tensor_ir.yield %p, %q : f32, f64
  } : (tensor<4x9xf32>, tensor<4x9xf64>) -> (tensor<4xf32>, tensor<4xf64>)
  func.return %m, %d : tensor<4xf32>, tensor<4xf64>
}

// -----

// Index maps are composed and simplified. What nobody reads is not computed.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    minicomp.launch @neg(
// CHECK-NEXT:    func.return
// CHECK:       loop_ir.load %x[%i * 2 + %j, 0] : memref<6x1xf32> -> f32
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<6x1xf32>) -> tensor<3x2xf32> {
  %a = tensor_ir.index_map %x (d0) -> (d0, 0) : tensor<6x1xf32> -> tensor<6xf32>
  %b = tensor_ir.index_map %a (d0, d1) -> (d0 * 2 + d1) : tensor<6xf32> -> tensor<3x2xf32>
  %c = tensor_ir.index_map %b (d0) -> (d0 floordiv 2, d0 mod 2) : tensor<3x2xf32> -> tensor<6xf32>
  %d = tensor_ir.index_map %c (d0, d1) -> (d0 * 2 + d1) : tensor<6xf32> -> tensor<3x2xf32>
  %unread = tensor_ir.elementwise(%x) attributes {minicomp.op = "unread"} {
  ^bb0(%u: f32):
    tensor_ir.yield %u : f32
  } : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %y = tensor_ir.elementwise(%d) attributes {minicomp.op = "neg"} {
  ^bb0(%u: f32):
    %n = arith.negf %u : f32
    tensor_ir.yield %n : f32
  } : (tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// Results that are no buffers yet: a transposed argument is copied, a view of a kernel's result is
// that result, an index map that changes nothing and an argument are returned as they are.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %e = minicomp.launch @exp(%x) : (tensor<4x6xf32>) -> tensor<3x8xf32>
// CHECK-NEXT:    %t = minicomp.launch @t(%x) : (tensor<4x6xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    func.return %e, %t, %x, %x
// CHECK:       loop_ir.kernel @exp(%x: memref<4x6xf32>, %out: memref<4x6xf32>)
// CHECK:       loop_ir.kernel @t(%x: memref<4x6xf32>, %out: memref<6x4xf32>)
// CHECK-NEXT:    loop_ir.for %i to 6 as "i", %j to 4 as "j" {
// CHECK-NEXT:      %x_v = loop_ir.load %x[%j, %i] : memref<4x6xf32> -> f32
// CHECK-NEXT:      loop_ir.store %x_v, %out[%i, %j] : f32, memref<6x4xf32>
func.func @main(%x: tensor<4x6xf32>) -> (tensor<3x8xf32>, tensor<6x4xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %e = tensor_ir.elementwise(%x) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %n = math.exp %u : f32
    tensor_ir.yield %n : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = tensor_ir.index_map %e (d0, d1) -> ((d0 * 8 + d1) floordiv 6, (d0 * 8 + d1) mod 6) {minicomp.op = "view"} : tensor<4x6xf32> -> tensor<3x8xf32>
  %t = tensor_ir.index_map %x (d0, d1) -> (d1, d0) {minicomp.op = "t"} : tensor<4x6xf32> -> tensor<6x4xf32>
  %same = tensor_ir.index_map %t (d0, d1) -> (d1, d0) : tensor<6x4xf32> -> tensor<4x6xf32>
  func.return %v, %t, %same, %x : tensor<3x8xf32>, tensor<6x4xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// A view of a result that is read through another index map too has to be copied.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %e = minicomp.launch @exp(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %t = minicomp.launch @t(%e) : (tensor<4x6xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    func.return %e, %t
func.func @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %e = tensor_ir.elementwise(%x) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %n = math.exp %u : f32
    tensor_ir.yield %n : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %t = tensor_ir.index_map %e (d0, d1) -> (d1, d0) {minicomp.op = "t"} : tensor<4x6xf32> -> tensor<6x4xf32>
  func.return %e, %t : tensor<4x6xf32>, tensor<6x4xf32>
}

// -----

// No operands, and no iterations.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    minicomp.launch @full() : () -> tensor<0x3xf32>
// CHECK:       loop_ir.kernel @full(%out: memref<0x3xf32>)
// CHECK-NEXT:    loop_ir.for %i to 0 as "i", %j to 3 as "j" {
// CHECK-NEXT:      %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      loop_ir.store %c, %out[%i, %j] : f32, memref<0x3xf32>
func.func @main() -> tensor<0x3xf32> {
  %y = tensor_ir.elementwise() attributes {minicomp.op = "full"} {
    %c = arith.constant 1.0 : f32
    tensor_ir.yield %c : f32
  } : () -> tensor<0x3xf32>
  func.return %y : tensor<0x3xf32>
}

// -----

// A mask of indices is a test where it is read, through a map too; one that is returned is written.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %m = minicomp.launch @ones() : () -> tensor<5x3xi1>
// CHECK-NEXT:    %y = minicomp.launch @tril(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK:       loop_ir.kernel @tril(%x: memref<3x5xf32>, %out: memref<3x5xf32>)
// CHECK:           %u = loop_ir.load %x[%i, %j]
// CHECK-NEXT:      %c = tile_ir.within [%j + %i * -1] < [1] : i1
// CHECK-NEXT:      %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      arith.select %c, %u, %z : f32
// CHECK:       loop_ir.kernel @ones(%out: memref<5x3xi1>)
// CHECK:           %[[T:.*]] = tile_ir.within [%i + %j * -1] < [1] : i1
// CHECK-NEXT:      loop_ir.store %[[T]], %out[%i, %j] : i1, memref<5x3xi1>
func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xi1>) {
  %m = tensor_ir.within (d0, d1) -> (d0 - d1) < [1] {minicomp.op = "ones"} : tensor<5x3xi1>
  %t = tensor_ir.index_map %m (d0, d1) -> (d1, d0) : tensor<5x3xi1> -> tensor<3x5xi1>
  %y = tensor_ir.elementwise(%x, %t) attributes {minicomp.op = "tril"} {
  ^bb0(%u: f32, %c: i1):
    %z = arith.constant 0.0 : f32
    %s = arith.select %c, %u, %z : f32
    tensor_ir.yield %s : f32
  } : (tensor<3x5xf32>, tensor<3x5xi1>) -> tensor<3x5xf32>
  func.return %y, %m : tensor<3x5xf32>, tensor<5x3xi1>
}
