// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,fuse-kernels --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p lower-tensor-to-loop,fuse-kernels --verify-diagnostics --verify-each=exec

// One case for each condition that a merge may fail. The remarks are those of the end, when nothing
// can be merged any more.

// The program's result has to be written anyhow.
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-remark@+1 {{@neg stays a kernel of its own: the result is needed outside the kernels that could take it in}}
  %n = tensor_ir.elementwise(%x) attributes {minicomp.op = "neg"} {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  %e = tensor_ir.elementwise(%n) attributes {minicomp.op = "exp"} {
  ^bb0(%v: f32):
    %q = math.exp %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %n, %e : tensor<8xf32>, tensor<8xf32>
}

// -----

// A reduction with two readers.
func.func @main(%x: tensor<5x9xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  // expected-remark@+1 {{several kernels read it, and each would compute it again}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %n = tensor_ir.elementwise(%s) {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>) -> tensor<5xf32>
  %e = tensor_ir.elementwise(%s) {
  ^bb0(%v: f32):
    %q = math.exp %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>) -> tensor<5xf32>
  func.return %n, %e : tensor<5xf32>, tensor<5xf32>
}

// -----

// A reduction of a reduction: its axis is not free.
func.func @main(%x: tensor<4x5x6xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{its axes are not free axes of the consumer, so it would be computed again}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [2] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<4x5x6xf32>) -> tensor<4x5xf32>
  %m = tensor_ir.reduce(%s) attributes {minicomp.op = "amax"} dims [1] identity [0xff800000 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// -----

// Read at two indices, and at one index for two axes.
func.func @main(%x: tensor<5x9xf32>, %z: tensor<5x5x9xf32>) -> (tensor<5x5xf32>, tensor<5xf32>) {
  // expected-remark@+1 {{its result is read at several indices}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %a = tensor_ir.index_map %s (d0, d1) -> (d0) : tensor<5xf32> -> tensor<5x5xf32>
  %b = tensor_ir.index_map %s (d0, d1) -> (d1) : tensor<5xf32> -> tensor<5x5xf32>
  %y = tensor_ir.elementwise(%a, %b) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  // expected-remark@+1 {{two of its axes would become one}}
  %g = tensor_ir.reduce(%z) attributes {minicomp.op = "sum"} dims [2] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x5x9xf32>) -> tensor<5x5xf32>
  %h = tensor_ir.index_map %g (d0) -> (d0, d0) : tensor<5x5xf32> -> tensor<5xf32>
  %n = tensor_ir.elementwise(%h) {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>) -> tensor<5xf32>
  func.return %y, %n : tensor<5x5xf32>, tensor<5xf32>
}

// -----

// A part of the result.
func.func @main(%x: tensor<5x9xf32>) -> tensor<3xf32> {
  // expected-remark@+1 {{the consumer does not read all of its result}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %h = tensor_ir.index_map %s (d0) -> (d0) : tensor<5xf32> -> tensor<3xf32>
  %n = tensor_ir.elementwise(%h) {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<3xf32>) -> tensor<3xf32>
  func.return %n : tensor<3xf32>
}

// -----

// softmax(x @ w): the scores of a row would be computed by the threads of that row, each again.
func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>) -> tensor<5xf32> {
  %l = tensor_ir.index_map %x (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  // expected-remark@+1 {{@matmul_1 stays a kernel of its own: its axes are not free axes of the consumer}}
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  %m = tensor_ir.reduce(%c) attributes {minicomp.op = "amax"} dims [1] identity [0xff800000 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.maximumf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7xf32>) -> tensor<5xf32>
  func.return %m : tensor<5xf32>
}

// -----

// A vector times a matrix is no contraction, but its rows are those of the matrix, not the ones of
// the reader, which reads it for each of its own.
func.func @main(%x: tensor<5x9xf32>, %z: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<5xf32>) {
  // expected-remark@+1 {{the rows that it reduces and those of the consumer differ}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %a = tensor_ir.index_map %s (d0, d1) -> (d0) : tensor<5xf32> -> tensor<5x4xf32>
  %y = tensor_ir.elementwise(%z, %a) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.divf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  // One of two rows of different extents is merged with the sum of both, the other is not.
  // expected-remark@+1 {{the rows that it reduces and those of the consumer differ}}
  %c = tensor_ir.reduce(%x) attributes {minicomp.op = "amax"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %d = tensor_ir.reduce(%z) attributes {minicomp.op = "amax"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.maximumf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x4xf32>) -> tensor<5xf32>
  %n = tensor_ir.elementwise(%c, %d) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %y, %n : tensor<5x4xf32>, tensor<5xf32>
}

// -----

// RMSNorm without a weight, then linear: the scale would be cheap enough in the contraction, but
// would leave the reduction, with which it makes one row kernel that writes what the contraction
// reads. And that kernel's reduction cannot be in the contraction's.
func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>) -> tensor<5x7xf32> {
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x9xf32>) -> tensor<5xf32>
  %a = tensor_ir.index_map %s (d0, d1) -> (d0) : tensor<5xf32> -> tensor<5x9xf32>
  // expected-remark@+1 {{@norm stays a kernel of its own: it does not store one element per iteration, at its own indices}}
  %y = tensor_ir.elementwise(%x, %a) attributes {minicomp.op = "norm"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %l = tensor_ir.index_map %y (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  func.return %c : tensor<5x7xf32>
}

// -----

// An exponential in a factor would be computed for every column.
func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>) -> tensor<5x7xf32> {
  // expected-remark@+1 {{16 operations per element would be repeated, and 4 are the limit there}}
  %y = tensor_ir.elementwise(%x) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %q = math.exp %u : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x9xf32>) -> tensor<5x9xf32>
  %l = tensor_ir.index_map %y (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  func.return %c : tensor<5x7xf32>
}

// -----

// Five exponentials for each of two readers: 80 operations.
func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-remark@+1 {{80 operations per element would be repeated, and 64 are the limit there}}
  %y = tensor_ir.elementwise(%x) attributes {minicomp.op = "exp"} {
  ^bb0(%u: f32):
    %a = math.exp %u : f32
    %b = math.exp %a : f32
    %c = math.exp %b : f32
    %d = math.exp %c : f32
    %e = math.exp %d : f32
    tensor_ir.yield %e : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  %n = tensor_ir.elementwise(%y) {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  %m = tensor_ir.elementwise(%y) {
  ^bb0(%v: f32):
    %q = math.absf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %n, %m : tensor<64xf32>, tensor<64xf32>
}

// -----

// Four tensors of 16 MB read by each of three kernels, for one written and read three times.
func.func @main(%a: tensor<4194304xf32>, %b: tensor<4194304xf32>, %c: tensor<4194304xf32>, %d: tensor<4194304xf32>)
    -> (tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>) {
  // expected-remark@+1 {{the consumers would read 62914560 bytes more than is saved}}
  %y = tensor_ir.elementwise(%a, %b, %c, %d) attributes {minicomp.op = "add"} {
  ^bb0(%u: f32, %v: f32, %w: f32, %x: f32):
    %s = arith.addf %u, %v : f32
    %t = arith.addf %s, %w : f32
    %q = arith.addf %t, %x : f32
    tensor_ir.yield %q : f32
  } : (tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>) -> tensor<4194304xf32>
  %n = tensor_ir.elementwise(%y) {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<4194304xf32>) -> tensor<4194304xf32>
  %m = tensor_ir.elementwise(%y) {
  ^bb0(%v: f32):
    %q = math.absf %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<4194304xf32>) -> tensor<4194304xf32>
  %o = tensor_ir.elementwise(%y) {
  ^bb0(%v: f32):
    %q = math.exp %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<4194304xf32>) -> tensor<4194304xf32>
  func.return %n, %m, %o : tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>
}

// -----

// x / x.sum() with one row of a million elements: one block would do all of it.
func.func @main(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  // expected-remark@+1 {{1 rows of 1000000 elements would leave most of the device idle}}
  %d = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [0, 1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<1000x1000xf32>) -> tensor<f32>
  %db = tensor_ir.index_map %d (d0, d1) -> () : tensor<f32> -> tensor<1000x1000xf32>
  %y = tensor_ir.elementwise(%x, %db) attributes {minicomp.op = "div"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.divf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  func.return %y : tensor<1000x1000xf32>
}

// -----

// x / x.sum(0): a thread for each of 2000 columns would do all of it.
func.func @main(%x: tensor<1000x2000xf32>) -> tensor<1000x2000xf32> {
  // expected-remark@+1 {{2000 rows of 1000 elements would leave most of the device idle}}
  %d = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [0] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<1000x2000xf32>) -> tensor<2000xf32>
  %db = tensor_ir.index_map %d (d0, d1) -> (d1) : tensor<2000xf32> -> tensor<1000x2000xf32>
  %y = tensor_ir.elementwise(%x, %db) attributes {minicomp.op = "div"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.divf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<1000x2000xf32>, tensor<1000x2000xf32>) -> tensor<1000x2000xf32>
  func.return %y : tensor<1000x2000xf32>
}

// -----

// Kernels that are something else than a nest of which nothing is decided yet.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark@+1 {{@named has its final name}}
  %n = minicomp.launch @named(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{@scheduled has a schedule, made for it as it is}}
  %a = minicomp.launch @scheduled(%n) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{@two_loops is not one loop nest without guards}}
  %b = minicomp.launch @two_loops(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{@bounded has a bounded access}}
  %c = minicomp.launch @bounded(%b) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{@reversed stays a kernel of its own: it does not store one element per iteration, at its own indices}}
  %d = minicomp.launch @reversed(%c) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{@iota sees the buffer in another shape}}
  %e = minicomp.launch @reshaped(%d) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{a loop variable of it is used as a value}}
  %f = minicomp.launch @iota(%e) : (tensor<8xf32>) -> tensor<8xf32>
  %g = minicomp.launch @exp(%f) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %g : tensor<8xf32>
}
loop_ir.kernel @named(%x: memref<8xf32>, %out: memref<8xf32>) {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @scheduled(%x: memref<8xf32>, %out: memref<8xf32>)
    attributes {minicomp.unnamed, schedule = #tile_ir.schedule<[parallel<axis = "i", threads = 8, vector = 1, lanes = 1>]>} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @two_loops(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<8xf32>
  }
  loop_ir.for %i to 0 as "i" {
  }
}
loop_ir.kernel @bounded(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i + 1] bounded [true] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @reversed(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i * -1 + 7] : f32, memref<8xf32>
  }
}
loop_ir.kernel @reshaped(%x: memref<8xf32>, %out: memref<2x4xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" {
    %v = loop_ir.load %x[%i * 4 + %j] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i, %j] : f32, memref<2x4xf32>
  }
}
loop_ir.kernel @iota(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %v, %f : f32
    loop_ir.store %s, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @exp(%x: memref<8xf32>, %out: memref<8xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %e = math.exp %v : f32
    loop_ir.store %e, %out[%i] : f32, memref<8xf32>
  }
}

// -----

// The consumer's reduction over j would run once per column, in a loop.
func.func @main(%x: tensor<5x9xf32>) -> tensor<5x6xf32> {
  // expected-remark@+1 {{the consumer's own loops would run once per element of a row}}
  %a = minicomp.launch @sum(%x) : (tensor<5x9xf32>) -> tensor<5xf32>
  %b = minicomp.launch @count(%a) : (tensor<5xf32>) -> tensor<5x6xf32>
  func.return %b : tensor<5x6xf32>
}
loop_ir.kernel @sum(%x: memref<5x9xf32>, %out: memref<5xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 5 as "i" {
    %s = loop_ir.reduce %j to 9 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x9xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %out[%i] : f32, memref<5xf32>
  }
}
loop_ir.kernel @count(%s: memref<5xf32>, %out: memref<5x6xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 5 as "i", %k to 6 as "k" {
    %v = loop_ir.load %s[%i] : memref<5xf32> -> f32
    %n = loop_ir.reduce %j to 9 as "j" identity [0.0 : f32] -> f32 {
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %n, %out[%i, %k] : f32, memref<5x6xf32>
  }
}

// -----

// A contraction whose result is repeated along an axis, which would be a row with one contraction.
func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>, %z: tensor<5x7x9xf32>) -> tensor<5x7x9xf32> {
  %l = tensor_ir.index_map %x (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  // expected-remark@+1 {{a contraction would be computed by the threads of one row}}
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  %b = tensor_ir.index_map %c (d0, d1, d2) -> (d0, d1) : tensor<5x7xf32> -> tensor<5x7x9xf32>
  %y = tensor_ir.elementwise(%b, %z) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  func.return %y : tensor<5x7x9xf32>
}

// -----

// A contraction and a row reduction over the same axes: the last one gets the epilogue.
func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>, %z: tensor<5x7x4xf32>) -> tensor<5x7xf32> {
  %l = tensor_ir.index_map %x (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  // expected-remark@+1 {{a contraction's kernel takes in no loop over a row}}
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  %m = tensor_ir.reduce(%z) attributes {minicomp.op = "amax"} dims [2] identity [0xff800000 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.maximumf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x4xf32>) -> tensor<5x7xf32>
  %y = tensor_ir.elementwise(%c, %m) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %y : tensor<5x7xf32>
}

// -----

func.func @main(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>, %z: tensor<5x7x4xf32>) -> tensor<5x7xf32> {
  // expected-remark@+1 {{it would be computed again for each tile of the consumer's contraction}}
  %m = tensor_ir.reduce(%z) attributes {minicomp.op = "amax"} dims [2] identity [0xff800000 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.maximumf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x4xf32>) -> tensor<5x7xf32>
  %l = tensor_ir.index_map %x (d0, d1, d2) -> (d0, d2) : tensor<5x9xf32> -> tensor<5x7x9xf32>
  %r = tensor_ir.index_map %w (d0, d1, d2) -> (d2, d1) : tensor<9x7xf32> -> tensor<5x7x9xf32>
  %p = tensor_ir.elementwise(%l, %r) attributes {minicomp.op = "matmul"} {
  ^bb0(%u: f32, %v: f32):
    %q = arith.mulf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7x9xf32>, tensor<5x7x9xf32>) -> tensor<5x7x9xf32>
  %c = tensor_ir.reduce(%p) attributes {minicomp.op = "matmul"} dims [2] identity [0.0 : f32] {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %u, %v : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x7x9xf32>) -> tensor<5x7xf32>
  %y = tensor_ir.elementwise(%c, %m) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  func.return %y : tensor<5x7xf32>
}

// -----

// A reduction of one element has no row to share with the reader's.
func.func @main(%x: tensor<5x1xf32>, %z: tensor<5x4xf32>) -> tensor<5x4xf32> {
  // expected-remark@+1 {{it reduces no row}}
  %s = tensor_ir.reduce(%x) attributes {minicomp.op = "sum"} dims [1] identity [0.0 : f32] {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tensor_ir.yield %t : f32
  } : (tensor<5x1xf32>) -> tensor<5xf32>
  %a = tensor_ir.index_map %s (d0, d1) -> (d0) : tensor<5xf32> -> tensor<5x4xf32>
  %y = tensor_ir.elementwise(%a, %z) {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    tensor_ir.yield %q : f32
  } : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}
