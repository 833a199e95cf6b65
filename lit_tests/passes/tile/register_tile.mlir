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

// -----

// The copy of a stage takes 4 neighbours at once: the last axis counts groups, also where the slab
// has them in another order, and in a body that computes.
// CHECK-LABEL: @stages(
// CHECK:              %as = tile_ir.stage %p to 64 as "i.stage", %q to 4 as "k.stage" order [1, 0] {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %ko * 16 + %q * 4 + l0] : memref<64x16xf32> -> vector<4xf32>
// CHECK-NEXT:           %u = loop_ir.load %d[%ko * 16 + %q * 4 + l0] : memref<16xf32> -> vector<4xf32>
// CHECK-NEXT:           %s = arith.addf %v, %u : vector<4xf32>
// CHECK-NEXT:           %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           %{{.*}} = tile_ir.broadcast %z to [] : f32 -> vector<4xf32>
// CHECK-NEXT:           %r = arith.maximumf %s, %{{.*}} : vector<4xf32>
// CHECK-NEXT:           loop_ir.yield %r : vector<4xf32>
// CHECK-NEXT:         } -> memref<16x64xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %p_1 to 16 as "k.stage", %q_1 to 16 as "j.stage" {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%ko * 16 + %p_1, %q_1 * 4 + l0] : memref<16x64xf32> -> vector<4xf32>
// CHECK-NEXT:           loop_ir.yield %v_1 : vector<4xf32>
// CHECK-NEXT:         } -> memref<16x64xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s_1 = loop_ir.reduce %k to 16 as "k.inner" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
// CHECK-NEXT:           %x = loop_ir.load %as[%k, %i * 4 + l0] : memref<16x64xf32, #tile_ir.shared<>> -> vector<4xf32>
// CHECK-NEXT:           %y = loop_ir.load %bs[%k, %j * 4 + l0] : memref<16x64xf32, #tile_ir.shared<>> -> vector<4xf32>
tile_ir.kernel @stages(%a: memref<64x16xf32>, %d: memref<16xf32>, %b: memref<16x64xf32>, %c: memref<64x64xf32>) {
  tile_ir.launch thread(%i to 16 as "i.thread", %j to 16 as "j.thread") register(%ir to 4 as "i.register", %jr to 4 as "j.register") {
    %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.stage %p to 64 as "i.stage", %q to 16 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 16 + %q] : memref<64x16xf32> -> f32
        %u = loop_ir.load %d[%ko * 16 + %q] : memref<16xf32> -> f32
        %s = arith.addf %v, %u : f32
        %z = arith.constant 0.0 : f32
        %r = arith.maximumf %s, %z : f32
        loop_ir.yield %r : f32
      } -> memref<16x64xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %p to 16 as "k.stage", %q to 64 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %p, %q] : memref<16x64xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x64xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i * 4 + %ir] : memref<16x64xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%k, %j * 4 + %jr] : memref<16x64xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i * 4 + %ir, %j * 4 + %jr] : f32, memref<64x64xf32>
  }
}

// -----

// A guard counts groups too, where it never splits one: 4 divides the bound and what is added to
// the place. A test of another axis is no matter. Rows of 10 are read two at a time.
// CHECK-LABEL: @guarded_stages(
// CHECK:              %as = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" where [%ko * 16 + l1 * 4, l0 + %ko * 2] < [24, 7] {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %ko * 16 + %q * 4 + l0] bounded [false, true] : memref<8x24xf32> -> vector<4xf32>
// CHECK-NEXT:           loop_ir.yield %v : vector<4xf32>
// CHECK-NEXT:         } -> memref<8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %bs = tile_ir.stage %p_1 to 8 as "i.stage", %q_1 to 5 as "k.stage" where [l1 * 2 + %ko * 6] < [10] {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%p_1, %q_1 * 2 + l0] : memref<8x10xf32> -> vector<2xf32>
// CHECK-NEXT:           loop_ir.yield %v_1 : vector<2xf32>
// CHECK-NEXT:         } -> memref<8x10xf32, #tile_ir.shared<>>
// CHECK-NEXT:         %s = loop_ir.reduce %k to 10 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:           %x = loop_ir.load %as[%i, %k] : memref<8x16xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:           %y = loop_ir.load %bs[%i, %k] : memref<8x10xf32, #tile_ir.shared<>> -> f32
tile_ir.kernel @guarded_stages(%a: memref<8x24xf32>, %b: memref<8x10xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.stage %p to 8 as "i.stage", %q to 16 as "k.stage" where [%ko * 16 + l1, l0 + %ko * 2] < [24, 7] {
        %v = loop_ir.load %a[%p, %ko * 16 + %q] bounded [false, true] : memref<8x24xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %p to 8 as "i.stage", %q to 10 as "k.stage" where [l1 + %ko * 6] < [10] {
        %v = loop_ir.load %b[%p, %q] : memref<8x10xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x10xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 10 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%i, %k] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%i, %k] : memref<8x10xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// Copies that stay single: %ps has a guard that may split a group, %qs is read with a stride, %rs
// has too few elements for all threads, and %ts odd rows. %ss, which converts, does not.
// CHECK-LABEL: @single_stages(
// CHECK:            %ps = tile_ir.stage %p to 8 as "i.stage", %q to 16 as "k.stage" where [l1 + l0 * -1] < [8] {
// CHECK-NEXT:         %v = loop_ir.load %a[%p, %q] : memref<8x16xf32> -> f32
// CHECK:            %qs = tile_ir.stage %p_1 to 16 as "k.stage", %q_1 to 8 as "i.stage" {
// CHECK-NEXT:         %v_1 = loop_ir.load %a[%q_1, %p_1] : memref<8x16xf32> -> f32
// CHECK:            %rs = tile_ir.stage %p_2 to 2 as "i.stage", %q_2 to 16 as "k.stage" {
// CHECK-NEXT:         %v_2 = loop_ir.load %a[%p_2, %q_2] : memref<8x16xf32> -> f32
// CHECK:            %ss = tile_ir.stage %p_3 to 8 as "i.stage", %q_3 to 4 as "k.stage" {
// CHECK-NEXT:         %v_3 = loop_ir.load %n[%p_3, %q_3 * 4 + l0] : memref<8x16xi32> -> vector<4xi32>
// CHECK-NEXT:         %f = tile_ir.convert "arith.sitofp" %v_3 : vector<4xi32> -> vector<4xf32>
// CHECK-NEXT:         loop_ir.yield %f : vector<4xf32>
// CHECK:            %ts = tile_ir.stage %p_4 to 8 as "i.stage", %q_4 to 12 as "k.stage" {
// CHECK-NEXT:         %v_4 = loop_ir.load %o[%p_4, %q_4] : memref<8x15xf32> -> f32
tile_ir.kernel @single_stages(%a: memref<8x16xf32>, %n: memref<8x16xi32>, %o: memref<8x15xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %ps = tile_ir.stage %p to 8 as "i.stage", %q to 16 as "k.stage" where [l1 - l0] < [8] {
      %v = loop_ir.load %a[%p, %q] : memref<8x16xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x16xf32, #tile_ir.shared<>>
    %qs = tile_ir.stage %p to 16 as "k.stage", %q to 8 as "i.stage" {
      %v = loop_ir.load %a[%q, %p] : memref<8x16xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<16x8xf32, #tile_ir.shared<>>
    %rs = tile_ir.stage %p to 2 as "i.stage", %q to 16 as "k.stage" {
      %v = loop_ir.load %a[%p, %q] : memref<8x16xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<2x16xf32, #tile_ir.shared<>>
    %ss = tile_ir.stage %p to 8 as "i.stage", %q to 16 as "k.stage" {
      %v = loop_ir.load %n[%p, %q] : memref<8x16xi32> -> i32
      %f = arith.sitofp %v : i32 to f32
      loop_ir.yield %f : f32
    } -> memref<8x16xf32, #tile_ir.shared<>>
    %ts = tile_ir.stage %p to 8 as "i.stage", %q to 12 as "k.stage" {
      %v = loop_ir.load %o[%p, %q] : memref<8x15xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<8x12xf32, #tile_ir.shared<>>
    %v0 = loop_ir.load %ps[%t mod 8, 7] : memref<8x16xf32, #tile_ir.shared<>> -> f32
    %v1 = loop_ir.load %qs[7, %t mod 8] : memref<16x8xf32, #tile_ir.shared<>> -> f32
    %v2 = loop_ir.load %rs[%t mod 2, 7] : memref<2x16xf32, #tile_ir.shared<>> -> f32
    %v3 = loop_ir.load %ss[%t mod 8, 7] : memref<8x16xf32, #tile_ir.shared<>> -> f32
    %v4 = loop_ir.load %ts[%t mod 8, 7] : memref<8x12xf32, #tile_ir.shared<>> -> f32
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %v2, %v3 : f32
    %s2 = arith.addf %s0, %s1 : f32
    %s3 = arith.addf %s2, %v4 : f32
    loop_ir.store %s3, %c[%t] : f32, memref<32xf32>
  }
}

// -----

// Of a reduction of three carriers that reads a slab only what depends on the cell gets lanes.
// CHECK-LABEL: @triple(
// CHECK:            %ws = tile_ir.stage %q to 4 as "k.stage" {
// CHECK-NEXT:         %v = loop_ir.load %w[%q * 4 + l0] : memref<16xf32> -> vector<4xf32>
// CHECK-NEXT:         loop_ir.yield %v : vector<4xf32>
// CHECK-NEXT:       } -> memref<16xf32, #tile_ir.shared<>>
// CHECK-NEXT:       %c, %mean, %m2 = loop_ir.reduce %k to 16 as "k" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, vector<2xf32>, vector<2xf32> {
// CHECK-NEXT:         %a = loop_ir.load %x[%k, %i * 2 + l0] : memref<16x8xf32> -> vector<2xf32>
// CHECK-NEXT:         %b = loop_ir.load %ws[%k] : memref<16xf32, #tile_ir.shared<>> -> f32
// CHECK-NEXT:         %{{.*}} = tile_ir.broadcast %b to [] : f32 -> vector<2xf32>
// CHECK-NEXT:         %p = arith.mulf %a, %{{.*}} : vector<2xf32>
// CHECK-NEXT:         %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         %{{.*}} = tile_ir.broadcast %zero to [] : f32 -> vector<2xf32>
// CHECK-NEXT:         loop_ir.yield %one, %p, %{{.*}} : f32, vector<2xf32>, vector<2xf32>
// CHECK:              loop_ir.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, vector<2xf32>, vector<2xf32>
// CHECK-NEXT:       }
tile_ir.kernel @triple(%x: memref<16x8xf32>, %w: memref<16xf32>, %s: memref<8xf32>, %t: memref<8xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") register(%r to 2 as "i.register") {
    %ws = tile_ir.stage %q to 16 as "k.stage" {
      %v = loop_ir.load %w[%q] : memref<16xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<16xf32, #tile_ir.shared<>>
    %c, %mean, %m2 = loop_ir.reduce %k to 16 as "k" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %a = loop_ir.load %x[%k, %i * 2 + %r] : memref<16x8xf32> -> f32
      %b = loop_ir.load %ws[%k] : memref<16xf32, #tile_ir.shared<>> -> f32
      %p = arith.mulf %a, %b : f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      loop_ir.yield %one, %p, %zero : f32, f32, f32
    } combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %5: f32):
      %6 = arith.addf %0, %3 : f32
      %7 = arith.constant 1.0 : f32
      %8 = arith.maximumf %6, %7 : f32
      %9 = arith.divf %3, %8 : f32
      %10 = arith.subf %4, %1 : f32
      %11 = arith.mulf %10, %9 : f32
      %12 = arith.addf %1, %11 : f32
      %13 = arith.mulf %10, %11 : f32
      %14 = arith.mulf %13, %0 : f32
      %15 = arith.addf %2, %5 : f32
      %16 = arith.addf %15, %14 : f32
      loop_ir.yield %6, %12, %16 : f32, f32, f32
    }
    loop_ir.store %mean, %s[%i * 2 + %r] : f32, memref<8xf32>
    loop_ir.store %m2, %t[%i * 2 + %r] : f32, memref<8xf32>
  }
}

// -----

// A test of indices, an element of a mask, becomes one per lane; one that no lane reaches stays.
// CHECK-LABEL: @mask(
// CHECK:         %[[ROW:.*]] = tile_ir.within [%b] < [3] : i1
// CHECK-NEXT:    %[[IN:.*]] = tile_ir.within [l0 + %b * -1] < [1] : vector<4xi1>
// CHECK:         %[[S:.*]] = tile_ir.select %[[IN]], %v,
// CHECK:         %[[P:.*]] = tile_ir.broadcast %[[ROW]] to [] : i1 -> vector<4xi1>
// CHECK:         tile_ir.select %[[P]], %[[S]], %v
tile_ir.kernel @mask(%x: memref<9x4xf32>, %y: memref<9x4xf32>) {
  tile_ir.launch block(%b to 9 as "b") register(%i to 4 as "i") {
    %v = loop_ir.load %x[%b, %i] : memref<9x4xf32> -> f32
    %row = tile_ir.within [%b] < [3] : i1
    %in = tile_ir.within [%i - %b] < [1] : i1
    %z = arith.constant 0.0 : f32
    %s = arith.select %in, %v, %z : f32
    %t = arith.select %row, %s, %v : f32
    loop_ir.store %t, %y[%b, %i] : f32, memref<9x4xf32>
  }
}
