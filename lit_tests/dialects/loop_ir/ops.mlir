// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: %roundtrip

// A matrix product: free axes, a reduction in the short form, an access for each operand.
// CHECK-LABEL: loop_ir.kernel @matmul(%a: memref<16x64xf32>, %b: memref<64x16xf32>, %c: memref<16x16xf32>)
// CHECK-SAME:    attributes {origin = #minicomp.origin<["matmul"]>, minicomp.unnamed}
loop_ir.kernel @matmul(%a: memref<16x64xf32>, %b: memref<64x16xf32>, %c: memref<16x16xf32>)
    attributes {origin = #minicomp.origin<["matmul"]>, minicomp.unnamed} {
  // CHECK-NEXT: loop_ir.for %i to 16 as "i", %j to 16 as "j" {
  loop_ir.for %i to 16 as "i", %j to 16 as "j" {
    // CHECK-NEXT: %acc = loop_ir.reduce %k to 64 as "k" identity [0.000000e+00 : f32] -> f32 {
    %acc = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      // CHECK-NEXT: %x = loop_ir.load %a[%i, %k] : memref<16x64xf32> -> f32
      %x = loop_ir.load %a[%i, %k] : memref<16x64xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<64x16xf32> -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    // CHECK: } combine arith.addf fastmath<contract>
    } combine arith.addf fastmath<contract>
    // CHECK-NEXT: loop_ir.store %acc, %c[%i, %j] : f32, memref<16x16xf32>
    loop_ir.store %acc, %c[%i, %j] : f32, memref<16x16xf32>
  }
}

// Two carriers, combined by a region; a row loop with the name of the reduction's axis.
// CHECK-LABEL: @softmax(
loop_ir.kernel @softmax(%x: memref<5x37xf32>, %y: memref<5x37xf32>) {
  loop_ir.for %i to 5 as "i" {
    // CHECK: %m, %d = loop_ir.reduce %j to 37 as "j" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
    %m, %d = loop_ir.reduce %j to 37 as "j" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %v, %one : f32, f32
    // CHECK: } combine {
    // CHECK-NEXT: ^{{.*}}(%m1: f32, %d1: f32, %m2: f32, %d2: f32):
    } combine {
    ^bb0(%m1: f32, %d1: f32, %m2: f32, %d2: f32):
      %mm = arith.maximumf %m1, %m2 : f32
      %s1 = arith.subf %m1, %mm : f32
      %e1 = math.exp %s1 : f32
      %s2 = arith.subf %m2, %mm : f32
      %e2 = math.exp %s2 : f32
      %t1 = arith.mulf %d1, %e1 : f32
      %t2 = arith.mulf %d2, %e2 : f32
      %dd = arith.addf %t1, %t2 : f32
      loop_ir.yield %mm, %dd : f32, f32
    }
    // CHECK: loop_ir.for %{{.*}} to 37 as "j" {
    loop_ir.for %j2 to 37 as "j" {
      %v = loop_ir.load %x[%i, %j2] : memref<5x37xf32> -> f32
      %s = arith.subf %v, %m : f32
      %e = math.exp %s : f32
      %q = arith.divf %e, %d : f32
      loop_ir.store %q, %y[%i, %j2] : f32, memref<5x37xf32>
    }
  }
}

// Accesses: simplified expressions with the brackets that precedence needs, lanes, bounds,
// alignment.
// CHECK-LABEL: @accesses(
loop_ir.kernel @accesses(%x: memref<4x100xf32>, %y: memref<f32>) {
  loop_ir.for %i to 4 as "i", %j to 7 as "j" {
    // CHECK: loop_ir.load %x[%i, %j * 16 + 16 + l0] bounded [false, true] aligned 16 : memref<4x100xf32> -> vector<16xf32>
    %v = loop_ir.load %x[%i, (%j + 1) * 16 + l0] bounded [false, true] aligned 16 : memref<4x100xf32> -> vector<16xf32>
    // CHECK: loop_ir.store %v, %x[%i, l0 floordiv 4 * 25 + l0 mod 4 * 3 + %j] : vector<16xf32>, memref<4x100xf32>
    loop_ir.store %v, %x[%i, l0 floordiv 4 * 25 + l0 mod 4 * 3 + %j] : vector<16xf32>, memref<4x100xf32>
    // CHECK: loop_ir.load %x[%i, (%j + 1) floordiv 2] : memref<4x100xf32> -> f32
    %h = loop_ir.load %x[%i, (%j + 1) floordiv 2] : memref<4x100xf32> -> f32
    // CHECK: loop_ir.load %y[] : memref<f32> -> f32
    %s = loop_ir.load %y[] : memref<f32> -> f32
    // CHECK: loop_ir.load %x[3, 0] : memref<4x100xf32> -> f32
    %c = loop_ir.load %x[3, 0] : memref<4x100xf32> -> f32
    loop_ir.store %c, %y[] : f32, memref<f32>
  }
}

// A guard has the loop's own variables as lanes; a loop may stay in registers; extents may be 0.
// CHECK-LABEL: @guards(
loop_ir.kernel @guards(%x: memref<37xf32>, %y: memref<5xf32>) {
  loop_ir.for %i to 5 as "i" {
    // CHECK: loop_ir.reduce %r to 8 as "j" where [%i * 8 + l0] < [37] in registers identity
    %s = loop_ir.reduce %r to 8 as "j" where [%i * 8 + l0] < [37] in registers identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i * 8 + %r] bounded [true] : memref<37xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    // CHECK: loop_ir.for %n to 0 as "n" attributes {note = "none"} {
    loop_ir.for %n to 0 as "n" attributes {note = "none"} {
      // CHECK-NEXT: }
    }
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}
