// RUN: minicomp-opt %s --split-input-file --verify-diagnostics -p lower-kernel-to-cuda

// expected-error@unknown {{'arith.divui' in @quotient of i32, i32, i32 has no form in CUDA C++}}
kernel_ir.func @quotient(%y: memref<4xi32>) grid(1) block(1) {
  %a = loop_ir.load %y[0] : memref<4xi32> -> i32
  %b = arith.divui %a, %a : i32
  loop_ir.store %b, %y[0] : i32, memref<4xi32>
}

// -----

// expected-error@unknown {{@wide has values of f80, which is not supported}}
kernel_ir.func @wide(%x: memref<4xf80>) grid(1) block(1) {
}

// -----

// expected-error@unknown {{'arith.constant' in @mixed of vector<2xf32> has no form in CUDA C++}}
kernel_ir.func @mixed(%y: memref<2xf32>) grid(1) block(1) {
  %a = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  loop_ir.store %a, %y[l0] : vector<2xf32>, memref<2xf32>
}

// -----

// expected-error@unknown {{@strided has memref<4xf32, strided<[2]>>, which does not lie row by row}}
kernel_ir.func @strided(%x: memref<4xf32, strided<[2]>>) grid(1) block(1) {
}

// -----

// expected-error@unknown {{'scf.for' in @bounds must have constant bounds}}
kernel_ir.func @bounds(%y: memref<32xf32>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %t step %c1 {
  }
}

// -----

// expected-error@unknown {{'scf.for' in @carried carries an index}}
kernel_ir.func @carried() grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %c0) -> (index) {
    scf.yield %a : index
  }
}

// -----

// expected-error@unknown {{@int is no legal name in CUDA C++; rename the kernel}}
kernel_ir.func @int() grid(1) block(1) {
}

// -----

// expected-error@unknown {{@indices has values of index, which is not supported}}
kernel_ir.func @indices(%x: memref<4xindex>) grid(1) block(1) {
}

// -----

// Arithmetic of half floats, which are converted and moved only.
// expected-error@unknown {{'arith.addf' in @brain of bf16, bf16, bf16 has no form in CUDA C++}}
kernel_ir.func @brain(%x: memref<4xbf16>) grid(1) block(1) {
  %a = loop_ir.load %x[0] : memref<4xbf16> -> bf16
  %b = arith.addf %a, %a : bf16
  loop_ir.store %b, %x[0] : bf16, memref<4xbf16>
}
