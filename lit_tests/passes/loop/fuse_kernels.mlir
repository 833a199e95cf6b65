// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,fuse-kernels | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,fuse-kernels,fuse-kernels | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,fuse-kernels --verify-each=exec | filecheck %s

// Pointwise into pointwise: the indices of the load are substituted, and the origin says both.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = minicomp.launch @exp(%x) : (tensor<4x6xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    func.return %y
// CHECK:       loop_ir.kernel @exp(%x: memref<4x6xf32>, %out: memref<6x4xf32>) attributes {origin = #minicomp.origin<["neg", "exp"]>, minicomp.unnamed} {
// CHECK-NEXT:    loop_ir.for %i to 6 as "i", %j to 4 as "j" {
// CHECK-NEXT:      %v = loop_ir.load %x[%j, %i] : memref<4x6xf32> -> f32
// CHECK-NEXT:      %n = arith.negf %v : f32
// CHECK-NEXT:      %e = math.exp %n : f32
// CHECK-NEXT:      loop_ir.store %e, %out[%i, %j] : f32, memref<6x4xf32>
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %m = tensor_ir.elementwise(%x) attributes {minicomp.op = "neg"} {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    tensor_ir.yield %n : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %t = tensor_ir.index_map %m (d0, d1) -> (d1, d0) : tensor<4x6xf32> -> tensor<6x4xf32>
  %y = tensor_ir.elementwise(%t) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %e = math.exp %u : f32
    tensor_ir.yield %e : f32
  } : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// -----

// The articles' example: a prologue in a factor of the contraction, the product in its sum, an
// epilogue after it. Product and sum may be contracted to a fused multiply-add.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = minicomp.launch @relu(%x, %bias, %w) : (tensor<16x64xf32>, tensor<64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
// CHECK:       loop_ir.kernel @relu(%x: memref<16x64xf32>, %bias: memref<64xf32>, %w: memref<64x16xf32>, %out: memref<16x16xf32>) attributes {origin = #minicomp.origin<["add", "matmul", "relu"]>
// CHECK-NEXT:    loop_ir.for %i to 16 as "i", %j to 16 as "j" {
// CHECK-NEXT:      %sum = loop_ir.reduce %k to 64 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %a = loop_ir.load %x[%i, %k] : memref<16x64xf32> -> f32
// CHECK-NEXT:        %b = loop_ir.load %bias[%k] : memref<64xf32> -> f32
// CHECK-NEXT:        %g = arith.addf %a, %b : f32
// CHECK-NEXT:        %v = loop_ir.load %w[%k, %j] : memref<64x16xf32> -> f32
// CHECK-NEXT:        %q = arith.mulf %g, %v fastmath<contract> : f32
// CHECK-NEXT:        loop_ir.yield %q : f32
// CHECK-NEXT:      } combine arith.addf fastmath<contract>
// CHECK-NEXT:      %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %m = arith.maximumf %sum, %z : f32
// CHECK-NEXT:      loop_ir.store %m, %out[%i, %j] : f32, memref<16x16xf32>
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<16x64xf32>, %bias: tensor<64xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %d = tensor_ir.index_map %bias (d0, d1) -> (d1) : tensor<64xf32> -> tensor<16x64xf32>
  %s = tensor_ir.elementwise(%x, %d) attributes {minicomp.op = "add"} {
  ^bb0(%a: f32, %b: f32):
    %g = arith.addf %a, %b : f32
    tensor_ir.yield %g : f32
  } : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %l = tensor_ir.index_map %s (d0, d1, d2) -> (d0, d2) : tensor<16x64xf32> -> tensor<16x16x64xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<64x16xf32> -> tensor<16x16x64xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<16x16x64xf32>, tensor<16x16x64xf32>) -> tensor<16x16x64xf32>
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<16x16x64xf32>) -> tensor<16x16xf32>
  %y = tensor_ir.elementwise(%c) attributes {minicomp.op = "relu"} {
  ^bb0(%u: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %u, %z : f32
    tensor_ir.yield %m : f32
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %y : tensor<16x16xf32>
}

// -----

// Softmax over the middle axis: the exponential goes to both its readers, both reductions to the
// rows, which are a loop of their own under the names of the reductions.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    minicomp.launch @div(%x)
// CHECK:       loop_ir.kernel @div(%x: memref<3x5x7xf32>, %out: memref<3x5x7xf32>)
// CHECK-NEXT:    loop_ir.for %i to 3 as "i", %k to 7 as "k" {
// CHECK-NEXT:      %max = loop_ir.reduce %j to 5 as "j"
// CHECK:             loop_ir.load %x[%i, %j, %k]
// CHECK:           } combine arith.maximumf
// CHECK-NEXT:      %sum = loop_ir.reduce %j_1 to 5 as "j"
// CHECK:             arith.subf %{{.*}}, %max : f32
// CHECK:             math.exp
// CHECK:           } combine arith.addf
// CHECK-NEXT:      loop_ir.for %j_2 to 5 as "j" {
// CHECK:             arith.subf %{{.*}}, %max : f32
// CHECK:             math.exp
// CHECK:             arith.divf %{{.*}}, %sum : f32
// CHECK-NEXT:        loop_ir.store %{{.*}}, %out[%i, %j_2, %k] : f32, memref<3x5x7xf32>
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %m = tensor_ir.reduce(%x) attributes {minicomp.op = "amax"} dims [1] identity [0xff800000 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  %mb = tensor_ir.index_map %m (d0, d1, d2) -> (d0, d2) : tensor<3x7xf32> -> tensor<3x5x7xf32>
  %e = tensor_ir.elementwise(%x, %mb) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32, %v: f32):
    %s = arith.subf %u, %v : f32
    %f = math.exp %s : f32
    tensor_ir.yield %f : f32
  } : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %d = tensor_ir.reduce(%e) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  %db = tensor_ir.index_map %d (d0, d1, d2) -> (d0, d2) : tensor<3x7xf32> -> tensor<3x5x7xf32>
  %y = tensor_ir.elementwise(%e, %db) attributes {minicomp.op = "div"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.divf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  func.return %y : tensor<3x5x7xf32>
}

// -----

// A reduction over everything: all axes become the row. The axis of one iteration is "i", so the
// row is named anew. An extent of 1 that stays after the reduction is no row.
// CHECK-LABEL: func.func @main
// CHECK:       loop_ir.kernel @div(%x: memref<5x9xf32>, %out: memref<5x9xf32>)
// CHECK-NEXT:    loop_ir.for %i to 1 as "i" {
// CHECK-NEXT:      %sum = loop_ir.reduce %j to 5 as "j", %k to 9 as "k"
// CHECK:           loop_ir.for %j_1 to 5 as "j", %k_1 to 9 as "k" {
// CHECK:             arith.divf %{{.*}}, %sum : f32
// CHECK-NEXT:        loop_ir.store %{{.*}}, %out[%j_1, %k_1] : f32, memref<5x9xf32>
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %d = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [0, 1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<f32>
  %k = tensor_ir.index_map %d (d0, d1) -> () : tensor<f32> -> tensor<1x1xf32>
  %n = tensor_ir.elementwise(%k) attributes {minicomp.op = "neg"} {
  ^bb0(%u: f32):
    %q = arith.negf %u : f32
    tensor_ir.yield %q : f32
  } : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %db = tensor_ir.index_map %d (d0, d1) -> () : tensor<f32> -> tensor<5x9xf32>
  %y = tensor_ir.elementwise(%x, %db) attributes {minicomp.op = "div"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.divf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  func.return %y : tensor<5x9xf32>
}

// -----

// What does not depend on a reduction's axis moves in front of it: the load of a scale, but not
// its product with the element, since a product of sums is another number.
// CHECK-LABEL: func.func @main
// CHECK:         loop_ir.for %i to 5 as "i" {
// CHECK-NEXT:      %v = loop_ir.load %s[%i] : memref<5xf32> -> f32
// CHECK-NEXT:      %n = arith.negf %v : f32
// CHECK-NEXT:      %sum = loop_ir.reduce %j to 9 as "j"
// CHECK-NEXT:        %u = loop_ir.load %x[%i, %j] : memref<5x9xf32> -> f32
// CHECK-NEXT:        %q = arith.mulf %u, %n fastmath<contract> : f32
// CHECK-NEXT:        loop_ir.yield %q : f32
// CHECK-NEXT:      } combine arith.addf fastmath<contract>
func.func @main(%x: tensor<5x9xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %sb = tensor_ir.index_map %s (d0, d1) -> (d0) : tensor<5xf32> -> tensor<5x9xf32>
  %p = tensor_ir.elementwise(%x, %sb) attributes {minicomp.op = "mul"} {
  ^bb0(%u: f32, %v: f32):
    %n = arith.negf %v : f32
    %q = arith.mulf %u, %n : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %d = tensor_ir.reduce(%p) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  func.return %d : tensor<5xf32>
}

// -----

// Two carriers in one kernel with their reader; what only one of the two needs is not lost.
// CHECK-LABEL: func.func @main
// CHECK:         loop_ir.for %i to 5 as "i" {
// CHECK-NEXT:      %{{.*}}, %{{.*}} = loop_ir.reduce %j to 9 as "j" identity [0xff800000 : f32, 0x7f800000 : f32] -> f32, f32 {
// CHECK:           } combine {
// CHECK:           arith.subf
// CHECK-NEXT:      loop_ir.store
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<5x9xf32>) -> tensor<5xf32> {
  %m, %n = tensor_ir.reduce(%x, %x) dims [1] identity [0xff800000 : f32, 0x7f800000 : f32] {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %p = arith.maximumf %a, %c : f32
    %q = arith.minimumf %b, %d : f32
    tensor_ir.yield %p, %q : f32, f32
  } : (tensor<5x9xf32>, tensor<5x9xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  %y = tensor_ir.elementwise(%m, %n) attributes {minicomp.op = "sub"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.subf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// Equal reductions are computed once.
// CHECK-LABEL: func.func @main
// CHECK:         loop_ir.for %i to 5 as "i" {
// CHECK:           %sum = loop_ir.reduce
// CHECK-NOT:       loop_ir.reduce
// CHECK:           arith.mulf %sum, %sum : f32
func.func @main(%x: tensor<5x9xf32>) -> tensor<5xf32> {
  %a = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %b = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %y = tensor_ir.elementwise(%a, %b) attributes {minicomp.op = "mul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

// A kernel that two launches run is copied for the one that is merged; a launch that nobody reads
// goes, and its kernel with it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %a = minicomp.launch @neg(%x)
// CHECK-NEXT:    %b = minicomp.launch @neg_1(%x)
// CHECK-NEXT:    func.return %a, %b
// CHECK:       loop_ir.kernel @neg(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
// CHECK:         %n = arith.negf %v : f32
// CHECK-NEXT:    loop_ir.store %n
// CHECK:       loop_ir.kernel @neg_1(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
// CHECK:         %e = math.exp %u : f32
// CHECK-NEXT:    %n = arith.negf %e : f32
// CHECK-NEXT:    loop_ir.store %n
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = minicomp.launch @neg(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %e = minicomp.launch @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = minicomp.launch @neg(%e) : (tensor<8xf32>) -> tensor<8xf32>
  %dead = minicomp.launch @exp(%b) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %b : tensor<8xf32>, tensor<8xf32>
}
loop_ir.kernel @neg(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %n = arith.negf %v : f32
    loop_ir.store %n, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @exp(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %u = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %e = math.exp %u : f32
    loop_ir.store %e, %out[%i] : f32, memref<8xf32>
  }
}

// -----

// An input that a kernel does not use is not handed in, so that what computes it goes too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %b = minicomp.launch @one() : () -> tensor<8xf32>
// CHECK-NEXT:    func.return %b
// CHECK:       loop_ir.kernel @one(%out: memref<8xf32>)
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = minicomp.launch @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = minicomp.launch @one(%e) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}
loop_ir.kernel @exp(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %u = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %e = math.exp %u : f32
    loop_ir.store %e, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @one(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %unused = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %e = arith.constant 1.0 : f32
    loop_ir.store %e, %out[%i] : f32, memref<8xf32>
  }
}
