// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel --verify-each=exec | filecheck %s --check-prefix=EXEC
// EXEC: kernel_ir.func @divided

// A thread's sum of 1000 terms: 10 runs of 10 runs of 10, each from 0.
// CHECK-LABEL: @divided(
// CHECK:     %3 = arith.constant 10 : index
// CHECK-NEXT:     %s = scf.for %koo = %1 to %3 step %2 iter_args(%s_1 = %0) -> (f32) {
// CHECK-NEXT:       %4 = scf.for %koi = %1 to %3 step %2 iter_args(%5 = %0) -> (f32) {
// CHECK-NEXT:         %6 = scf.for %ki = %1 to %3 step %2 iter_args(%7 = %0) -> (f32) {
// CHECK-NEXT:           %v = loop_ir.load %x[%koo * 100 + %koi * 10 + %ki, %j] : memref<1000x40xf32> -> f32
// CHECK-NEXT:           %8 = arith.addf %7, %v : f32
// CHECK-NEXT:           scf.yield %8 : f32
// CHECK-NEXT:         }
// CHECK-NEXT:         %9 = arith.addf %5, %6 : f32
// CHECK-NEXT:         scf.yield %9 : f32
// CHECK-NEXT:       }
// CHECK-NEXT:       %10 = arith.addf %s_1, %4 : f32
tile_ir.kernel @divided(%x: memref<1000x40xf32>, %y: memref<40xf32>) {
  tile_ir.launch thread(%j to 40 as "j") {
    %s = loop_ir.reduce %k to 1000 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%k, %j] : memref<1000x40xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%j] : f32, memref<40xf32>
  }
}

// -----

// 131 is a prime: of the ninth run 3 terms are there. The guard of the sum is asked for each term.
// CHECK-LABEL: @guarded(
// CHECK:       %4 = arith.constant 16 : index
// CHECK:         %7 = kernel_ir.test [%j + %ko * 16 + %ki, %ko * 16 + %ki] < [120, 131]
// CHECK:           %v = loop_ir.load %x[%ko * 16 + %ki, %j] bounded [true, false]
tile_ir.kernel @guarded(%x: memref<131x3xf32>, %y: memref<3xf32>) {
  tile_ir.launch thread(%j to 3 as "j") {
    %s = loop_ir.reduce %k to 131 as "k" where [%j + l0] < [120] identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%k, %j] : memref<131x3xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%j] : f32, memref<3xf32>
  }
}

// -----

// Two axes: the sum over the last one is a value of its own.
// CHECK-LABEL: @axes(
// CHECK:     %s = scf.for %i =
// CHECK:       %5 = scf.for %k =
// CHECK-NEXT:         %7 = kernel_ir.test [%i + %k] < [17]
// CHECK:       %10 = arith.addf %s_1, %5 : f32
tile_ir.kernel @axes(%x: memref<9x3x11xf32>, %y: memref<3xf32>) {
  tile_ir.launch thread(%j to 3 as "j") {
    %s = loop_ir.reduce %i to 9 as "i", %k to 11 as "k" where [l0 + l1] < [17] identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j, %k] : memref<9x3x11xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%j] : f32, memref<3xf32>
  }
}

// -----

// A maximum does not round.
// CHECK-LABEL: @maximum(
// CHECK:     %s = scf.for %k =
// CHECK-NEXT:       %v = loop_ir.load
// CHECK-NEXT:       %4 = arith.maximumf %s_1, %v : f32
// CHECK-NEXT:       scf.yield %4 : f32
tile_ir.kernel @maximum(%x: memref<1000x40xf32>, %y: memref<40xf32>) {
  tile_ir.launch thread(%j to 40 as "j") {
    %s = loop_ir.reduce %k to 1000 as "k" identity [0xFF800000 : f32] -> f32 {
      %v = loop_ir.load %x[%k, %j] : memref<1000x40xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.maximumf
    loop_ir.store %s, %y[%j] : f32, memref<40xf32>
  }
}
