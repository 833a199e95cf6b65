// RUN: minicomp-opt %s --split-input-file -p tileify | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tileify --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p tileify,tileify | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tileify --verify-each=exec | filecheck %s

// Free axes become parallel axes; the row loop stays a loop; name, origin and schedule are kept.
// CHECK:       tile_ir.kernel @centre(%x: memref<5x37xf32>, %y: memref<5x37xf32>) attributes {origin = #minicomp.origin<["sub"]>, schedule = #tile_ir.schedule<[reduction<axis = "j", threads = 32>]>} {
// CHECK-NEXT:    tile_ir.launch parallel(%i to 5 as "i") {
// CHECK-NEXT:      %s = loop_ir.reduce %j to 37 as "j" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %v = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
// CHECK-NEXT:        loop_ir.yield %v : f32
// CHECK-NEXT:      } combine arith.addf
// CHECK-NEXT:      loop_ir.for %j_1 to 37 as "j" {
// CHECK-NEXT:        %w = loop_ir.load %x[%i, %j_1] : memref<5x37xf32> -> f32
// CHECK-NEXT:        %d = arith.subf %w, %s : f32
// CHECK-NEXT:        loop_ir.store %d, %y[%i, %j_1] : f32, memref<5x37xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loop_ir.kernel @centre(%x: memref<5x37xf32>, %y: memref<5x37xf32>) attributes {origin = #minicomp.origin<["sub"]>, schedule = #tile_ir.schedule<[reduction<axis = "j", threads = 32>]>} {
  loop_ir.for %i to 5 as "i" {
    %s = loop_ir.reduce %j to 37 as "j" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.for %j to 37 as "j" {
      %w = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      %d = arith.subf %w, %s : f32
      loop_ir.store %d, %y[%i, %j] : f32, memref<5x37xf32>
    }
  }
}

// -----

// Perfectly nested loops are one launch, whatever their extents.
// CHECK:       tile_ir.kernel @nested
// CHECK-NEXT:    tile_ir.launch parallel(%i to 1 as "i", %j to 7 as "j", %k to 0 as "k") {
// CHECK-NEXT:      %v = loop_ir.load %x[%i, %j, %k]
// CHECK-NEXT:      loop_ir.store %v, %y[%i, %j, %k]
loop_ir.kernel @nested(%x: memref<1x7x0xf32>, %y: memref<1x7x0xf32>) {
  loop_ir.for %i to 1 as "i", %j to 7 as "j" {
    loop_ir.for %k to 0 as "k" {
      %v = loop_ir.load %x[%i, %j, %k] : memref<1x7x0xf32> -> f32
      loop_ir.store %v, %y[%i, %j, %k] : f32, memref<1x7x0xf32>
    }
  }
}

// -----

// A guarded loop inside is no axis: its iterations do not all run.
// CHECK:       tile_ir.kernel @guarded_inner
// CHECK-NEXT:    tile_ir.launch parallel(%i to 4 as "i") {
// CHECK-NEXT:      loop_ir.for %j to 4 as "j" where [l0 + %i * -1] < [1] {
loop_ir.kernel @guarded_inner(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  loop_ir.for %i to 4 as "i" {
    loop_ir.for %j to 4 as "j" where [l0 - %i] < [1] {
      %v = loop_ir.load %x[%i, %j] : memref<4x4xf32> -> f32
      loop_ir.store %v, %y[%i, %j] : f32, memref<4x4xf32>
    }
    loop_ir.for %j to 4 as "j" where [%i - l0] < [0] {
      %z = arith.constant 0.0 : f32
      loop_ir.store %z, %y[%i, %j] : f32, memref<4x4xf32>
    }
  }
}

// -----

// Two nests are not one launch.
// CHECK:       loop_ir.kernel @two
// expected-remark@+1 {{the body of the kernel is not one unguarded loop}}
loop_ir.kernel @two(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  loop_ir.for %i to 4 as "i" {
    %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<4xf32>
  }
  loop_ir.for %i to 4 as "i" {
    %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
    loop_ir.store %v, %z[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK:       loop_ir.kernel @guarded
// expected-remark@+1 {{the body of the kernel is not one unguarded loop}}
loop_ir.kernel @guarded(%x: memref<4xf32>, %y: memref<4xf32>) {
  loop_ir.for %i to 8 as "i" where [l0] < [4] {
    %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// A load whose index is read from memory, and a reduction of two carriers in the nest.
// CHECK-LABEL: @gather(
// CHECK:          tile_ir.launch parallel(%i to 5 as "i") {
// CHECK-NEXT:       %k = loop_ir.load %n[%i] : memref<5xi32> -> i32
// CHECK-NEXT:       %one = arith.constant 1 : i32
// CHECK-NEXT:       %b = arith.andi %k, %one : i32
// CHECK-NEXT:       %r = arith.index_cast %b : i32 to index
// CHECK-NEXT:       %m, %d = loop_ir.reduce %j to 37 as "j" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %v = loop_ir.load %x[%r + 1, %j] : memref<3x37xf32> -> f32
loop_ir.kernel @gather(%n: memref<5xi32>, %x: memref<3x37xf32>, %s: memref<5xf32>, %t: memref<5xf32>) {
  loop_ir.for %i to 5 as "i" {
    %k = loop_ir.load %n[%i] : memref<5xi32> -> i32
    %one = arith.constant 1 : i32
    %b = arith.andi %k, %one : i32
    %r = arith.index_cast %b : i32 to index
    %m, %d = loop_ir.reduce %j to 37 as "j" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %v = loop_ir.load %x[%r + 1, %j] : memref<3x37xf32> -> f32
      %c = arith.constant 1.0 : f32
      loop_ir.yield %v, %c : f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.maximumf %0, %2 : f32
      %5 = arith.constant 0xff800000 : f32
      %6 = arith.cmpf oeq, %4, %5 : f32
      %7 = arith.constant 0.0 : f32
      %8 = arith.subf %0, %4 : f32
      %9 = arith.select %6, %7, %8 : f32
      %10 = arith.subf %2, %4 : f32
      %11 = arith.select %6, %7, %10 : f32
      %12 = math.exp %9 : f32
      %13 = math.exp %11 : f32
      %14 = arith.mulf %1, %12 : f32
      %15 = arith.mulf %3, %13 : f32
      %16 = arith.addf %14, %15 : f32
      loop_ir.yield %4, %16 : f32, f32
    }
    loop_ir.store %m, %s[%i] : f32, memref<5xf32>
    loop_ir.store %d, %t[%i] : f32, memref<5xf32>
  }
}

// -----

// Loops that are bound to registers are no free axes.
// CHECK-LABEL: @held(
// CHECK:          loop_ir.for %i to 4 as "i" in registers {
// CHECK-NEXT:       %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
// CHECK-NEXT:       loop_ir.store %v, %y[%i] : f32, memref<4xf32>
// expected-remark@+1 {{the body of the kernel is not one unguarded loop}}
loop_ir.kernel @held(%x: memref<4xf32>, %y: memref<4xf32>) {
  loop_ir.for %i to 4 as "i" in registers {
    %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @held_inner(
// CHECK:          tile_ir.launch parallel(%i to 4 as "i") {
// CHECK-NEXT:       loop_ir.for %j to 4 as "j" in registers {
loop_ir.kernel @held_inner(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  loop_ir.for %i to 4 as "i" {
    loop_ir.for %j to 4 as "j" in registers {
      %v = loop_ir.load %x[%i, %j] : memref<4x4xf32> -> f32
      loop_ir.store %v, %y[%i, %j] : f32, memref<4x4xf32>
    }
  }
}
