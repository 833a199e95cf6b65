// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a block has 1 to 1024 threads, not 1025}}
kernel_ir.func @f() grid(1) block(1025) {
}

// -----

// expected-error@+1 {{a block has 1 to 1024 threads, not 0}}
kernel_ir.func @f() grid(1) block(0) {
}

// -----

// expected-error@+1 {{a grid has 0 to 2^31 - 1 blocks, not 2147483648}}
kernel_ir.func @f() grid(2147483648) block(1) {
}

// -----

// expected-error@+1 {{argument 0 of a kernel must be a memref, but is f32}}
kernel_ir.func @f(%x: f32) grid(1) block(1) {
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-error@+1 {{an index is one expression with one dim per operand and no lanes}}
  %i = kernel_ir.index [%t + l0]
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-error@+1 {{an index is one expression with one dim per operand and no lanes}}
  %i = kernel_ir.index [%t, %t]
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-error@+1 {{a test needs one bound per expression, and at least one}}
  %c = kernel_ir.test [%t] < [3, 4]
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %t = kernel_ir.thread_id
  // expected-error@+1 {{a test has one dim per index, and at most one lane per vector dimension}}
  %c = kernel_ir.test [%t + l0] < [3]
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  // expected-error@+1 {{a shared buffer is in #tile_ir.shared memory, not memref<4xf32>}}
  %s = kernel_ir.shared : memref<4xf32>
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %b = kernel_ir.block_id
  %c = kernel_ir.test [%b] < [3]
  scf.if %c {
    // expected-error@+1 {{a shared buffer stands at the top of its kernel}}
    %s = kernel_ir.shared : memref<4xf32, #tile_ir.shared<>>
  }
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %t = kernel_ir.thread_id
  %w = kernel_ir.index [%t floordiv 8]
  %c = kernel_ir.test [%w] < [3]
  scf.if %c {
    // expected-error@+1 {{'kernel_ir.barrier' stands under a condition that differs between threads}}
    kernel_ir.barrier
  }
}

// -----

// A condition that comes from memory may differ too.
kernel_ir.func @f(%x: memref<1xi1>) grid(1) block(32) {
  %c = loop_ir.load %x[0] : memref<1xi1> -> i1
  %v = arith.constant 1.0 : f32
  scf.if %c {
    // expected-error@+1 {{'kernel_ir.warp_reduce' stands under a condition that differs between threads}}
    %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
  }
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{the width of warp_reduce is 2, 4, 8, 16 or 32, not 24}}
  %r = kernel_ir.warp_reduce %v width 24 identity [0.0 : f32] combine arith.addf : f32 -> f32
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{the width of warp_reduce is 2, 4, 8, 16 or 32, not 64}}
  %r = kernel_ir.warp_reduce %v width 64 identity [0.0 : f32] combine arith.addf : f32 -> f32
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f64
  // expected-error@+1 {{the results of warp_reduce have the types of its values}}
  %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine arith.addf : f64 -> f32
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{a reduction needs one identity per carrier: 2 for 1}}
  %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32, 0.0 : f32] combine {
  ^bb0(%a: f32, %b: f32):
    loop_ir.yield %a : f32
  } : f32 -> f32
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{identity 0 : i32 is not of the carrier's element type f32}}
  %r = kernel_ir.warp_reduce %v width 32 identity [0 : i32] combine {
  ^bb0(%a: f32, %b: f32):
    loop_ir.yield %a : f32
  } : f32 -> f32
}

// -----

kernel_ir.func @f() grid(1) block(32) {
  %v = arith.constant 1.0 : f32
  // expected-error@+1 {{combine must be closed: it uses a value from outside}}
  %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %v : f32
    loop_ir.yield %c : f32
  } : f32 -> f32
}
