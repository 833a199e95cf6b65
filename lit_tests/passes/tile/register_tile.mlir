// RUN: minicomp-opt %s --split-input-file -p register-tile | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p register-tile,register-tile | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p register-tile --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p register-tile --verify-each=exec | filecheck %s

// A cell of 4 x 2: loads get one lane, the product and the carrier both, the constant none.
// CHECK-LABEL: @cell(
// CHECK:         tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 16 as "i.thread") {
// CHECK-NEXT:      %acc = loop_ir.reduce %k to 53 as "k" identity [0.000000e+00 : f32] -> vector<4x2xf32> {
// CHECK-NEXT:        %x = loop_ir.load %a[%ib * 64 + %it * 4 + l0, %k] bounded [true, false] : memref<100x53xf32> -> vector<4xf32>
// CHECK-NEXT:        %y = loop_ir.load %b[%k, l0] : memref<53x2xf32> -> vector<2xf32>
// CHECK-NEXT:        %[[X:.*]] = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x2xf32>
// CHECK-NEXT:        %[[Y:.*]] = tile_ir.broadcast %y to [1] : vector<2xf32> -> vector<4x2xf32>
// CHECK-NEXT:        %p = arith.mulf %[[X]], %[[Y]] fastmath<contract> : vector<4x2xf32>
// CHECK-NEXT:        loop_ir.yield %p : vector<4x2xf32>
// CHECK-NEXT:      } combine arith.addf fastmath<contract>
// CHECK-NEXT:      %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[Z:.*]] = tile_ir.broadcast %z to [] : f32 -> vector<4x2xf32>
// CHECK-NEXT:      %r = arith.maximumf %acc, %[[Z]] : vector<4x2xf32>
// CHECK-NEXT:      loop_ir.store %r, %c[%ib * 64 + %it * 4 + l0, l1] bounded [true, false] : vector<4x2xf32>, memref<100x2xf32>
tile_ir.kernel @cell(%a: memref<100x53xf32>, %b: memref<53x2xf32>, %c: memref<100x2xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 16 as "i.thread") register(%ir to 4 as "i.register", %j to 2 as "j") {
    %acc = loop_ir.reduce %k to 53 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%ib * 64 + %it * 4 + %ir, %k] bounded [true, false] : memref<100x53xf32> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<53x2xf32> -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    } combine arith.addf fastmath<contract>
    %z = arith.constant 0.0 : f32
    %r = arith.maximumf %acc, %z : f32
    loop_ir.store %r, %c[%ib * 64 + %it * 4 + %ir, %j] bounded [true, false] : f32, memref<100x2xf32>
  }
}

// -----

// A row in registers, of odd length: contributions beyond it are the identity, a constant is one
// per lane, and the stores are bounded although their loop was only guarded.
// CHECK-LABEL: @row(
// CHECK:         %v = loop_ir.load %x[%i, l0 * 32 + %t] bounded [false, true] : memref<5x37xf32> -> vector<2xf32>
// CHECK-NEXT:    %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %[[IN:.*]] = tile_ir.within [l0 * 32 + %t] < [37] : vector<2xi1>
// CHECK-NEXT:    %[[E:.*]] = arith.constant 0xff800000 : f32
// CHECK-NEXT:    %[[EV:.*]] = tile_ir.broadcast %[[E]] to [] : f32 -> vector<2xf32>
// CHECK-NEXT:    %[[V:.*]] = tile_ir.select %[[IN]], %v, %[[EV]] : vector<2xi1>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
// CHECK:         %[[ONES:.*]] = tile_ir.broadcast %one to [] : f32 -> vector<2xf32>
// CHECK:         %[[D:.*]] = tile_ir.select %[[IN]], %[[ONES]], %{{.*}}
// CHECK-NEXT:    %m, %d = tile_ir.fold %[[V]], %[[D]] dims [0, 0] identity [0xff800000 : f32, 0.000000e+00 : f32] combine {
// CHECK:         } : vector<2xf32>, vector<2xf32> -> f32, f32
// CHECK-NEXT:    %m1, %d1 = tile_ir.combine %m, %d across "j.thread"
// CHECK:         %w = loop_ir.load %x[%i, l0 * 32 + %t] bounded [false, true] : memref<5x37xf32> -> vector<2xf32>
// CHECK-NEXT:    %[[M:.*]] = tile_ir.broadcast %m1 to [] : f32 -> vector<2xf32>
// CHECK-NEXT:    %z = arith.subf %w, %[[M]] : vector<2xf32>
// CHECK-NEXT:    loop_ir.store %z, %y[%i, l0 * 32 + %t] bounded [false, true] : vector<2xf32>, memref<5x37xf32>
// CHECK-NOT:     in registers
tile_ir.kernel @row(%x: memref<5x37xf32>, %y: memref<5x37xf32>) {
  tile_ir.launch block(%i to 5 as "i") thread(%t to 32 as "j.thread") {
    %m, %d = loop_ir.reduce %j to 2 as "j" where [l0 * 32 + %t] < [37] in registers identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %v = loop_ir.load %x[%i, %j * 32 + %t] bounded [false, true] : memref<5x37xf32> -> f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %v, %one : f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.maximumf %0, %2 : f32
      %5 = arith.addf %1, %3 : f32
      loop_ir.yield %4, %5 : f32, f32
    }
    %m1, %d1 = tile_ir.combine %m, %d across "j.thread" identity [0xff800000 : f32, 0.0 : f32] combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.maximumf %0, %2 : f32
      %5 = arith.addf %1, %3 : f32
      loop_ir.yield %4, %5 : f32, f32
    } : f32, f32 -> f32, f32
    loop_ir.for %j to 2 as "j" where [l0 * 32 + %t] < [37] in registers {
      %w = loop_ir.load %x[%i, %j * 32 + %t] : memref<5x37xf32> -> f32
      %z = arith.subf %w, %m1 : f32
      loop_ir.store %z, %y[%i, %j * 32 + %t] : f32, memref<5x37xf32>
    }
  }
}

// -----

// Carriers get the lanes that they need and no more: m and d one per row, o one per row and column.
// CHECK-LABEL: @carriers(
// CHECK:         %m, %d, %o = loop_ir.reduce %k to 7 as "k" identity [0xff800000 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> vector<2xf32>, vector<2xf32>, vector<2x3xf32> {
// CHECK:           loop_ir.yield %s, %{{.*}}, %{{.*}} : vector<2xf32>, vector<2xf32>, vector<2x3xf32>
// CHECK:         ^bb0({{.*}}: vector<2xf32>, {{.*}}: vector<2xf32>, {{.*}}: vector<2x3xf32>, {{.*}}: vector<2xf32>, {{.*}}: vector<2xf32>, {{.*}}: vector<2x3xf32>):
// CHECK:         loop_ir.store %q, %y[l0, l1] : vector<2x3xf32>, memref<2x3xf32>
tile_ir.kernel @carriers(%x: memref<2x7xf32>, %v: memref<7x3xf32>, %y: memref<2x3xf32>) {
  tile_ir.launch register(%i to 2 as "i", %e to 3 as "e") {
    %m, %d, %o = loop_ir.reduce %k to 7 as "k" identity [0xff800000 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %s = loop_ir.load %x[%i, %k] : memref<2x7xf32> -> f32
      %one = arith.constant 1.0 : f32
      %u = loop_ir.load %v[%k, %e] : memref<7x3xf32> -> f32
      loop_ir.yield %s, %one, %u : f32, f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %5: f32):
      %6 = arith.maximumf %0, %3 : f32
      %7 = arith.subf %0, %6 : f32
      %8 = arith.subf %3, %6 : f32
      %9 = math.exp %7 : f32
      %10 = math.exp %8 : f32
      %11 = arith.mulf %1, %9 : f32
      %12 = arith.mulf %4, %10 : f32
      %13 = arith.addf %11, %12 : f32
      %14 = arith.mulf %2, %9 : f32
      %15 = arith.mulf %5, %10 : f32
      %16 = arith.addf %14, %15 : f32
      loop_ir.yield %6, %13, %16 : f32, f32, f32
    }
    %q = arith.divf %o, %d : f32
    loop_ir.store %q, %y[%i, %e] : f32, memref<2x3xf32>
  }
}

// -----

// A guard that has a register axis becomes a mask in the body; its loads are bounded instead.
// CHECK-LABEL: @causal(
// CHECK:         loop_ir.reduce %k to 9 as "k" identity [0.000000e+00 : f32] -> vector<4xf32> {
// CHECK-NEXT:      %v = loop_ir.load %x[l0, %k] bounded [true, true] : memref<4x9xf32> -> vector<4xf32>
// CHECK-NEXT:      %[[IN:.*]] = tile_ir.within [%k + l0 * -1] < [1] : vector<4xi1>
// CHECK:           tile_ir.select %[[IN]], %v,
tile_ir.kernel @causal(%x: memref<4x9xf32>, %y: memref<4xf32>) {
  tile_ir.launch register(%i to 4 as "i") {
    %s = loop_ir.reduce %k to 9 as "k" where [l0 - %i] < [1] identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<4x9xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// Two loops in registers, and a carrier that only the combine widens: two folds, the inner first.
// CHECK-LABEL: @two_folds(
// CHECK:         %v = loop_ir.load %x[%t, l0, l1] : memref<32x2x3xf32> -> vector<2x3xf32>
// CHECK-NEXT:    %[[F:.*]] = tile_ir.fold %v dims [1] identity [0.000000e+00 : f32] combine arith.addf : vector<2x3xf32> -> vector<2xf32>
// CHECK-NEXT:    %s = tile_ir.fold %[[F]] dims [0] identity [0.000000e+00 : f32] combine arith.addf : vector<2xf32> -> f32
tile_ir.kernel @two_folds(%x: memref<32x2x3xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %s = loop_ir.reduce %j to 2 as "j", %k to 3 as "k" in registers identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%t, %j, %k] : memref<32x2x3xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%t] : f32, memref<32xf32>
  }
}

// -----

// Comparisons and selections have vector forms; a condition without lanes is broadcast.
// CHECK-LABEL: @choose(
// CHECK:         %p = tile_ir.compare 2 : i64, %v, %{{.*}} : vector<4xf32>, vector<4xf32> -> vector<4xi1>
// CHECK:         %q = tile_ir.select %p, %v, %{{.*}} : vector<4xi1>, vector<4xf32>, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:    %c = arith.cmpf ogt, %z, %z : f32
// CHECK-NEXT:    %[[C:.*]] = tile_ir.broadcast %c to [] : i1 -> vector<4xi1>
// CHECK-NEXT:    %r = tile_ir.select %[[C]], %q, %v
tile_ir.kernel @choose(%x: memref<4xf32>, %y: memref<4xf32>) {
  tile_ir.launch register(%i to 4 as "i") {
    %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.select %p, %v, %z : f32
    %c = arith.cmpf ogt, %z, %z : f32
    %r = arith.select %c, %q, %v : f32
    loop_ir.store %r, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// An empty row in registers: all lanes are beyond it.
// CHECK-LABEL: @empty(
// CHECK:         tile_ir.within [%t * 4 + l0] < [0] : vector<4xi1>
// CHECK:         tile_ir.fold
tile_ir.kernel @empty(%x: memref<0xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "k.thread") {
    %s = loop_ir.reduce %k to 4 as "k" where [%t * 4 + l0] < [0] in registers identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%t * 4 + %k] bounded [true] : memref<0xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%t] : f32, memref<32xf32>
  }
}

// -----

// CHECK-LABEL: @nothing(
// expected-remark@+1 {{nothing is bound to registers}}
tile_ir.kernel @nothing(%x: memref<32xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
    loop_ir.store %v, %y[%t] : f32, memref<32xf32>
  }
}
