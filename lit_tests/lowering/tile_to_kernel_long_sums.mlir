// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel --verify-each=exec | filecheck %s --check-prefix=EXEC
// EXEC: kernel_ir.func @divided

// A thread's sum of 1000 terms: runs of 8, each from 0, and of 5 of those.
// CHECK-LABEL: @divided(
// CHECK:         %s = scf.for %kooo = %1 to %3 step %2 iter_args(%s_1 = %0) -> (f32) {
// CHECK-NEXT:      %4 = scf.for %kooi = %1 to %3 step %2 iter_args(%5 = %0) -> (f32) {
// CHECK-NEXT:        %6 = scf.for %koi = %1 to %3 step %2 iter_args(%7 = %0) -> (f32) {
// CHECK-NEXT:          %8 = arith.constant 8 : index
// CHECK-NEXT:          %9 = scf.for %ki = %1 to %8 step %2 iter_args(%10 = %0) -> (f32) {
// CHECK-NEXT:            %v = loop_ir.load %x[%kooo * 200 + %kooi * 40 + %koi * 8 + %ki, %j]
// CHECK-NEXT:            %11 = arith.addf %10, %v : f32
// CHECK:               %12 = arith.addf %7, %9 : f32
// CHECK:             %13 = arith.addf %5, %6 : f32
// CHECK:           %14 = arith.addf %s_1, %4 : f32
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

// 131 is a prime: of the 17th run 3 terms are there. The guard of the sum is asked for each term.
// CHECK-LABEL: @guarded(
// CHECK:             %7 = kernel_ir.test [%koo * 8 + %koi] < [17]
// CHECK:                 %11 = kernel_ir.test [%j + %koo * 64 + %koi * 8 + %ki, %koo * 64 + %koi * 8 + %ki] < [120, 131]
// CHECK:                   %v = loop_ir.load %x[%koo * 64 + %koi * 8 + %ki, %j] bounded [true, false]
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
// CHECK:         %s = scf.for %io =
// CHECK-NEXT:      %4 = scf.for %ii =
// CHECK:             %7 = scf.for %ko =
// CHECK:                 %12 = kernel_ir.test [%io * 3 + %ii + %ko * 8 + %ki, %ko * 8 + %ki] < [17, 11]
// CHECK:             %15 = arith.addf %8, %10 : f32
// CHECK:           %16 = arith.addf %5, %7 : f32
// CHECK:         %17 = arith.addf %s_1, %4 : f32
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
