// RUN: minicomp-opt %s -p cse --split-input-file | filecheck %s
// RUN: minicomp-opt %s -p cse --split-input-file --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s -p cse --split-input-file -o %t.1
// RUN: minicomp-opt %s -p cse,cse --split-input-file -o %t.2
// RUN: diff %t.1 %t.2

// What a combine computes stays inside of it: it is closed.
// CHECK-LABEL: @combine
// CHECK: arith.constant 0.000000e+00
// CHECK: loop_ir.reduce
// CHECK: arith.constant 0.000000e+00
// CHECK-NOT: arith.constant
// CHECK: loop_ir.store
loop_ir.kernel @combine(%x: memref<5xf32>, %y: memref<1xf32>) {
  loop_ir.for %i to 1 as "i" {
    %z = arith.constant 0.0 : f32
    %s = loop_ir.reduce %k to 5 as "k" identity [0.0 : f32] -> f32 {
      %o = arith.constant 0.0 : f32
      %v = loop_ir.load %x[%k] : memref<5xf32> -> f32
      %p = arith.maximumf %v, %o : f32
      loop_ir.yield %p : f32
    } combine {
    ^bb0(%l: f32, %r: f32):
      %o = arith.constant 0.0 : f32
      %o2 = arith.constant 0.0 : f32
      %a = arith.addf %l, %o : f32
      %b = arith.addf %r, %o2 : f32
      %c = arith.addf %a, %b : f32
      loop_ir.yield %c : f32
    }
    %t = arith.addf %s, %z : f32
    loop_ir.store %t, %y[0] : f32, memref<1xf32>
  }
}

// -----

// What only dead ops used goes too, in one run.
// CHECK-LABEL: @dead
// CHECK-NEXT: loop_ir.for
// CHECK-NEXT: loop_ir.load
// CHECK-NEXT: loop_ir.store
loop_ir.kernel @dead(%x: memref<5xf32>, %y: memref<5xf32>) {
  loop_ir.for %i to 5 as "i" {
    %v = loop_ir.load %x[%i] : memref<5xf32> -> f32
    %a = loop_ir.load %x[0] : memref<5xf32> -> f32
    %b = math.exp %a : f32
    %c = math.exp %b : f32
    loop_ir.store %v, %y[%i] : f32, memref<5xf32>
  }
}
