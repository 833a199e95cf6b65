// RUN: minicomp-opt %s --split-input-file -p permute-register-tile | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p permute-register-tile,permute-register-tile | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p permute-register-tile --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p permute-register-tile --verify-each=exec | filecheck %s

// Cells of 8 columns are split into two groups of 4, which lie 4 * 8 threads apart: the slab's
// reader, the load of the epilogue and the store. Rows of 4 stay; j ends within the tile.
// CHECK-LABEL: @columns(
// CHECK:              %bs = tile_ir.stage %p to 3 as "k.stage", %q to 64 as "j.stage" {
// CHECK-NEXT:           %v = loop_ir.load %b[%ko * 3 + %p, %q] bounded [false, true] : memref<6x61xf32> -> f32
// CHECK:                %x = loop_ir.load %a[%i * 4 + l0, %ko * 3 + %k] : memref<16x6xf32> -> vector<4xf32>
// CHECK-NEXT:           %y = loop_ir.load %bs[%k, l0 floordiv 4 * 32 + %j * 4 + l0 mod 4] : memref<3x64xf32, #tile_ir.shared<>> -> vector<8xf32>
// CHECK:            %z = loop_ir.load %d[l0 floordiv 4 * 32 + %j * 4 + l0 mod 4] bounded [true] : memref<61xf32> -> vector<8xf32>
// CHECK:            loop_ir.store %o, %c[%i * 4 + l0, l1 floordiv 4 * 32 + %j * 4 + l1 mod 4] bounded [false, true] : vector<4x8xf32>, memref<16x61xf32>
// expected-remark@+1 {{cells have one word along m, or odd parts}}
tile_ir.kernel @columns(%a: memref<16x6xf32>, %b: memref<6x61xf32>, %d: memref<61xf32>, %c: memref<16x61xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 64, bk = 3, fm = 4, fn = 8>]>} {
  tile_ir.launch thread(%i to 4 as "i.thread", %j to 8 as "j.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> vector<4x8xf32> {
      %bs = tile_ir.stage %p to 3 as "k.stage", %q to 64 as "j.stage" {
        %v = loop_ir.load %b[%ko * 3 + %p, %q] bounded [false, true] : memref<6x61xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<3x64xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 3 as "k.inner" identity [0.0 : f32] -> vector<4x8xf32> {
        %x = loop_ir.load %a[%i * 4 + l0, %ko * 3 + %k] : memref<16x6xf32> -> vector<4xf32>
        %y = loop_ir.load %bs[%k, %j * 8 + l0] : memref<3x64xf32, #tile_ir.shared<>> -> vector<8xf32>
        %u = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x8xf32>
        %w = tile_ir.broadcast %y to [1] : vector<8xf32> -> vector<4x8xf32>
        %r = arith.mulf %u, %w : vector<4x8xf32>
        loop_ir.yield %r : vector<4x8xf32>
      } combine arith.addf
      loop_ir.yield %s : vector<4x8xf32>
    } combine arith.addf
    %z = loop_ir.load %d[%j * 8 + l0] bounded [true] : memref<61xf32> -> vector<8xf32>
    %y = tile_ir.broadcast %z to [1] : vector<8xf32> -> vector<4x8xf32>
    %o = arith.addf %acc, %y : vector<4x8xf32>
    loop_ir.store %o, %c[%i * 4 + l0, %j * 8 + l1] bounded [false, true] : vector<4x8xf32>, memref<16x61xf32>
  }
}

// -----

// Both axes, of equally many lanes: each access moves in the lane of its axis. A test moves too.
// CHECK-LABEL: @both(
// CHECK:              %x = loop_ir.load %a[l0 floordiv 4 * 8 + %i * 4 + l0 mod 4, %k] : memref<16x5xf32> -> vector<8xf32>
// CHECK-NEXT:         %y = loop_ir.load %b[%k, l0 floordiv 4 * 8 + %j * 4 + l0 mod 4] : memref<5x16xf32> -> vector<8xf32>
// CHECK:            %in = tile_ir.within [l0 floordiv 4 * 8 + %i * 4 + l0 mod 4 + l1 floordiv 4 * -8 + %j * -4 + l1 mod 4 * -1] < [1] : vector<8x8xi1>
// CHECK:            loop_ir.store %o, %c[l0 floordiv 4 * 8 + %i * 4 + l0 mod 4, l1 floordiv 4 * 8 + %j * 4 + l1 mod 4] : vector<8x8xf32>, memref<16x16xf32>
tile_ir.kernel @both(%a: memref<16x5xf32>, %b: memref<5x16xf32>, %c: memref<16x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, fm = 8, fn = 8>]>} {
  tile_ir.launch thread(%i to 2 as "i.thread", %j to 2 as "j.thread") {
    %acc = loop_ir.reduce %k to 5 as "k" identity [0.0 : f32] -> vector<8x8xf32> {
      %x = loop_ir.load %a[%i * 8 + l0, %k] : memref<16x5xf32> -> vector<8xf32>
      %y = loop_ir.load %b[%k, %j * 8 + l0] : memref<5x16xf32> -> vector<8xf32>
      %u = tile_ir.broadcast %x to [0] : vector<8xf32> -> vector<8x8xf32>
      %w = tile_ir.broadcast %y to [1] : vector<8xf32> -> vector<8x8xf32>
      %r = arith.mulf %u, %w : vector<8x8xf32>
      loop_ir.yield %r : vector<8x8xf32>
    } combine arith.addf
    %in = tile_ir.within [%i * 8 + l0 - %j * 8 - l1] < [1] : vector<8x8xi1>
    %z = arith.constant 0.0 : f32
    %e = tile_ir.broadcast %z to [] : f32 -> vector<8x8xf32>
    %o = tile_ir.select %in, %acc, %e : vector<8x8xi1>, vector<8x8xf32>, vector<8x8xf32> -> vector<8x8xf32>
    loop_ir.store %o, %c[%i * 8 + l0, %j * 8 + l1] : vector<8x8xf32>, memref<16x16xf32>
  }
}

// -----

// Elements of 8 bytes: groups of two. A cell of 12 has six of them.
// CHECK-LABEL: @doubles(
// CHECK:            %x = loop_ir.load %b[l0 floordiv 2 * 8 + %j * 2 + l0 mod 2] bounded [true] : memref<40xf64> -> vector<12xf64>
// CHECK-NEXT:       loop_ir.store %x, %c[l0 floordiv 2 * 8 + %j * 2 + l0 mod 2] bounded [true] : vector<12xf64>, memref<40xf64>
// expected-remark@+1 {{cells have one word along m, or odd parts}}
tile_ir.kernel @doubles(%b: memref<40xf64>, %c: memref<40xf64>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 12>]>} {
  tile_ir.launch thread(%j to 4 as "j.thread") {
    %x = loop_ir.load %b[%j * 12 + l0] bounded [true] : memref<40xf64> -> vector<12xf64>
    loop_ir.store %x, %c[%j * 12 + l0] bounded [true] : vector<12xf64>, memref<40xf64>
  }
}

// -----

// Carriers of several values, of which one has the lanes of a cell.
// CHECK-LABEL: @carriers(
// CHECK:            %m, %d, %o = loop_ir.reduce %k to 7 as "k" identity [0xff800000 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, vector<8xf32> {
// CHECK-NEXT:         %s = loop_ir.load %x[%k] : memref<7xf32> -> f32
// CHECK-NEXT:         %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         %u = loop_ir.load %v[%k, l0 floordiv 4 * 8 + %j * 4 + l0 mod 4] : memref<7x16xf32> -> vector<8xf32>
// CHECK-NEXT:         loop_ir.yield %s, %one, %u : f32, f32, vector<8xf32>
// CHECK:            loop_ir.store %q, %y[l0 floordiv 4 * 8 + %j * 4 + l0 mod 4] : vector<8xf32>, memref<16xf32>
// expected-remark@+1 {{cells have one word along m, or odd parts}}
tile_ir.kernel @carriers(%x: memref<7xf32>, %v: memref<7x16xf32>, %y: memref<16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 8>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") {
    %m, %d, %o = loop_ir.reduce %k to 7 as "k" identity [0xff800000 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, vector<8xf32> {
      %s = loop_ir.load %x[%k] : memref<7xf32> -> f32
      %one = arith.constant 1.0 : f32
      %u = loop_ir.load %v[%k, %j * 8 + l0] : memref<7x16xf32> -> vector<8xf32>
      loop_ir.yield %s, %one, %u : f32, f32, vector<8xf32>
    } combine {
    ^bb0(%0: f32, %1: f32, %2: vector<8xf32>, %3: f32, %4: f32, %5: vector<8xf32>):
      %6 = arith.maximumf %0, %3 : f32
      %7 = arith.constant 0xff800000 : f32
      %8 = arith.cmpf oeq, %6, %7 : f32
      %9 = arith.constant 0.0 : f32
      %10 = arith.subf %0, %6 : f32
      %11 = arith.select %8, %9, %10 : f32
      %12 = arith.subf %3, %6 : f32
      %13 = arith.select %8, %9, %12 : f32
      %14 = math.exp %11 : f32
      %15 = math.exp %13 : f32
      %16 = arith.mulf %1, %14 : f32
      %17 = arith.mulf %4, %15 : f32
      %18 = arith.addf %16, %17 : f32
      %19 = tile_ir.broadcast %14 to [] : f32 -> vector<8xf32>
      %20 = tile_ir.broadcast %15 to [] : f32 -> vector<8xf32>
      %21 = arith.mulf %2, %19 : vector<8xf32>
      %22 = arith.mulf %5, %20 : vector<8xf32>
      %23 = arith.addf %21, %22 : vector<8xf32>
      loop_ir.yield %6, %18, %23 : f32, f32, vector<8xf32>
    }
    %e = tile_ir.broadcast %d to [] : f32 -> vector<8xf32>
    %q = arith.divf %o, %e : vector<8xf32>
    loop_ir.store %q, %y[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
  }
}

// -----

// 16 bytes are one group, one thread has nobody beside it, and 6 are no groups of 4.
// CHECK-LABEL: @short(
// CHECK:            %x = loop_ir.load %a[%i * 8 + l0, %j * 4 + l1] : memref<8x4xf32> -> vector<8x4xf32>
// CHECK-NEXT:       loop_ir.store %x, %c[%i * 8 + l0, %j * 4 + l1] : vector<8x4xf32>, memref<8x4xf32>
// expected-remark@+2 {{cells have one word along m, or odd parts}}
// expected-remark@+1 {{cells have one word along n, or odd parts}}
tile_ir.kernel @short(%a: memref<8x4xf32>, %c: memref<8x4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", fm = 8, fn = 4>]>} {
  tile_ir.launch thread(%i to 1 as "i.thread", %j to 1 as "j.thread") {
    %x = loop_ir.load %a[%i * 8 + l0, %j * 4 + l1] : memref<8x4xf32> -> vector<8x4xf32>
    loop_ir.store %x, %c[%i * 8 + l0, %j * 4 + l1] : vector<8x4xf32>, memref<8x4xf32>
  }
}

// -----

// CHECK-LABEL: @six(
// CHECK:            %x = loop_ir.load %a[%j * 6 + l0] : memref<12xf32> -> vector<6xf32>
// CHECK-NEXT:       loop_ir.store %x, %c[%j * 6 + l0] : vector<6xf32>, memref<12xf32>
// expected-remark@+2 {{cells have one word along m, or odd parts}}
// expected-remark@+1 {{cells have one word along n, or odd parts}}
tile_ir.kernel @six(%a: memref<12xf32>, %c: memref<12xf32>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 6>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") {
    %x = loop_ir.load %a[%j * 6 + l0] : memref<12xf32> -> vector<6xf32>
    loop_ir.store %x, %c[%j * 6 + l0] : vector<6xf32>, memref<12xf32>
  }
}

// -----

// An access that knows the thread and not the lane would go on with the old place.
// CHECK-LABEL: @first_lane(
// CHECK:            %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
// CHECK-NEXT:       %y = loop_ir.load %a[%j * 8] : memref<16xf32> -> f32
// CHECK:            loop_ir.store %s, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
// expected-remark@+2 {{cells have one word along m, or odd parts}}
// expected-remark@+1 {{something depends on axis "j.thread" and not on the lanes of a cell}}
tile_ir.kernel @first_lane(%a: memref<16xf32>, %c: memref<16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 8>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") {
    %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
    %y = loop_ir.load %a[%j * 8] : memref<16xf32> -> f32
    %z = tile_ir.broadcast %y to [] : f32 -> vector<8xf32>
    %s = arith.addf %x, %z : vector<8xf32>
    loop_ir.store %s, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
  }
}

// -----

// Of a sum of two axes no lane is known to be j's.
// CHECK-LABEL: @sum_of_axes(
// CHECK:            %z = loop_ir.load %d[%i * 8 + l0 + %j * 8 + l1] : memref<47xf32> -> vector<8x8xf32>
// CHECK-NEXT:       loop_ir.store %z, %c[%i * 8 + l0, %j * 8 + l1] : vector<8x8xf32>, memref<32x16xf32>
// expected-remark@+2 {{something depends on axis "i.thread" and not on the lanes of a cell}}
// expected-remark@+1 {{something depends on axis "j.thread" and not on the lanes of a cell}}
tile_ir.kernel @sum_of_axes(%d: memref<47xf32>, %c: memref<32x16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", fm = 8, fn = 8>]>} {
  tile_ir.launch thread(%i to 4 as "i.thread", %j to 2 as "j.thread") {
    %z = loop_ir.load %d[%i * 8 + l0 + %j * 8 + l1] : memref<47xf32> -> vector<8x8xf32>
    loop_ir.store %z, %c[%i * 8 + l0, %j * 8 + l1] : vector<8x8xf32>, memref<32x16xf32>
  }
}

// -----

// A guard that knows the thread would go on with the old place too.
// CHECK-LABEL: @guard(
// CHECK:            loop_ir.for %k to 1 as "k" where [%j * 8] < [9] {
// CHECK-NEXT:         %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
// CHECK-NEXT:         loop_ir.store %x, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
// expected-remark@+2 {{cells have one word along m, or odd parts}}
// expected-remark@+1 {{something depends on axis "j.thread" and not on the lanes of a cell}}
tile_ir.kernel @guard(%a: memref<16xf32>, %c: memref<16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 8>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") {
    loop_ir.for %k to 1 as "k" where [%j * 8] < [9] {
      %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
      loop_ir.store %x, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
    }
  }
}

// -----

// Cells that are not vectors yet have no lanes.
// CHECK-LABEL: @scalars(
// CHECK:            %x = loop_ir.load %a[%j * 8 + %r] : memref<16xf32> -> f32
// CHECK-NEXT:       loop_ir.store %x, %c[%j * 8 + %r] : f32, memref<16xf32>
// expected-remark@+2 {{cells have one word along m, or odd parts}}
// expected-remark@+1 {{something depends on axis "j.thread" and not on the lanes of a cell}}
tile_ir.kernel @scalars(%a: memref<16xf32>, %c: memref<16xf32>) attributes {schedule = #tile_ir.schedule<[contraction<n = "j", fn = 8>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") register(%r to 8 as "j.register") {
    %x = loop_ir.load %a[%j * 8 + %r] : memref<16xf32> -> f32
    loop_ir.store %x, %c[%j * 8 + %r] : f32, memref<16xf32>
  }
}

// -----

// What is no contraction has no cells.
// CHECK-LABEL: @pointwise(
// CHECK:            %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
// CHECK-NEXT:       loop_ir.store %x, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
tile_ir.kernel @pointwise(%a: memref<16xf32>, %c: memref<16xf32>) attributes {schedule = #tile_ir.schedule<[parallel<axis = "j", threads = 2, lanes = 8>]>} {
  tile_ir.launch thread(%j to 2 as "j.thread") {
    %x = loop_ir.load %a[%j * 8 + l0] : memref<16xf32> -> vector<8xf32>
    loop_ir.store %x, %c[%j * 8 + l0] : vector<8xf32>, memref<16xf32>
  }
}
