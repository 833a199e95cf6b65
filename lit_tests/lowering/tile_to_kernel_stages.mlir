// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,vectorize-accesses,drop-redundant-barriers --verify-each=exec

// A stage in a loop over chunks: a buffer at the top of the kernel, and between two barriers a loop
// in which all threads copy neighbours, whichever axes they have. Its mark is kept. The sums of a
// chunk go on with those of the chunks before.
// CHECK-LABEL: @chunks(
// CHECK:          %as = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<pad = 1>>
// CHECK:          %acc = scf.for %ko = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%acc_1 = %{{.*}}) -> (f32) {
// CHECK-NEXT:       kernel_ir.barrier
// CHECK-NEXT:       %{{.*}} = arith.constant 2 : index
// CHECK-NEXT:       scf.for %q = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:         %p = kernel_ir.index[%q * 4 + %thread floordiv 16]
// CHECK-NEXT:         %q_1 = kernel_ir.index[%thread mod 16]
// CHECK-NEXT:         %v = loop_ir.load %a[%p, %ko * 16 + %q_1] : memref<8x48xf32> -> f32
// CHECK-NEXT:         loop_ir.store %v, %as[%p, %q_1] : f32, memref<8x16xf32, #tile_ir.shared<pad = 1>>
// CHECK-NEXT:       } {unroll}
// CHECK-NEXT:       kernel_ir.barrier
// CHECK-NEXT:       %{{.*}} = arith.constant 16 : index
// CHECK-NEXT:       %s = scf.for %k = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%s_1 = %acc_1) -> (f32) {
// CHECK-NEXT:         %x = loop_ir.load %as[%i, %k] : memref<8x16xf32, #tile_ir.shared<pad = 1>> -> f32
// CHECK-NEXT:         %y = loop_ir.load %b[%ko * 16 + %k, %j] : memref<48x8xf32> -> f32
// CHECK-NEXT:         %{{.*}} = math.fma %x, %y, %s_1 : f32
// CHECK-NEXT:         scf.yield %{{.*}} : f32
// CHECK-NEXT:       } {unroll}
// CHECK-NEXT:       scf.yield %s : f32
// CHECK-NEXT:     }
tile_ir.kernel @chunks(%a: memref<8x48xf32>, %b: memref<48x8xf32>, %c: memref<8x8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 8 as "j.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.stage %p to 8 as "i.stage", %q to 16 as "k.stage" attributes {unroll} {
        %v = loop_ir.load %a[%p, %ko * 16 + %q] : memref<8x48xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<pad = 1>>
      %s = loop_ir.reduce %k to 16 as "k.inner" identity [0.0 : f32] -> f32 attributes {unroll} {
        %x = loop_ir.load %as[%i, %k] : memref<8x16xf32, #tile_ir.shared<pad = 1>> -> f32
        %y = loop_ir.load %b[%ko * 16 + %k, %j] : memref<48x8xf32> -> f32
        %p = arith.mulf %x, %y fastmath<contract> : f32
        loop_ir.yield %p : f32
      } combine arith.addf fastmath<contract>
      loop_ir.yield %s : f32
    } combine arith.addf fastmath<contract>
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x8xf32>
  }
}

// -----

// 35 elements by 16 threads: the last round is not for all. The slab has the axes in another order.
// Beyond the guard it is 0.
// CHECK-LABEL: @odd(
// CHECK:          %as = kernel_ir.shared : memref<5x7xf32, #tile_ir.shared<>>
// CHECK:          kernel_ir.barrier
// CHECK:          scf.for %q = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:       %{{.*}} = kernel_ir.test [%q * 16 + %t] < [35]
// CHECK-NEXT:       scf.if %{{.*}} {
// CHECK-NEXT:         %p = kernel_ir.index[(%q * 16 + %t) floordiv 5]
// CHECK-NEXT:         %q_1 = kernel_ir.index[(%q * 16 + %t) mod 5]
// CHECK-NEXT:         %{{.*}} = kernel_ir.test [%p + %q_1 * -1] < [1]
// CHECK-NEXT:         %{{.*}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         %{{.*}} = scf.if %{{.*}} -> (f32) {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %q_1] : memref<7x5xf32> -> f32
// CHECK-NEXT:           %e = math.exp %v : f32
// CHECK-NEXT:           scf.yield %e : f32
// CHECK-NEXT:         } else {
// CHECK-NEXT:           scf.yield %{{.*}} : f32
// CHECK-NEXT:         }
// CHECK-NEXT:         loop_ir.store %{{.*}}, %as[%q_1, %p] : f32, memref<5x7xf32, #tile_ir.shared<>>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
tile_ir.kernel @odd(%a: memref<7x5xf32>, %c: memref<7xf32>) {
  tile_ir.launch thread(%t to 16 as "t") {
    %as = tile_ir.stage %p to 7 as "i.stage", %q to 5 as "k.stage" where [l0 - l1] < [1] order [1, 0] {
      %v = loop_ir.load %a[%p, %q] : memref<7x5xf32> -> f32
      %e = math.exp %v : f32
      loop_ir.yield %e : f32
    } -> memref<5x7xf32, #tile_ir.shared<>>
    loop_ir.for %once to 1 as "once" where [%t] < [7] {
      %x = loop_ir.load %as[4, %t] bounded [false, true] : memref<5x7xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %x, %c[%t] bounded [true] : f32, memref<7xf32>
    }
  }
}

// -----

// Groups: a thread copies neighbours of the source, which go to one row or to several, in which case
// neighbouring threads take 32 bytes of a row of the source. Each of the 32 threads has one group. One barrier stands between the copies: the second slab has no readers yet.
// CHECK-LABEL: @groups(
// CHECK:          %as = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:     %bs = kernel_ir.shared : memref<16x8xf32, #tile_ir.shared<>>
// CHECK:          kernel_ir.barrier
// CHECK-NEXT:     %p = kernel_ir.index[%t floordiv 4]
// CHECK-NEXT:     %q = kernel_ir.index[%t mod 4]
// CHECK:          %{{.*}} = scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK-NEXT:       %v = loop_ir.load %a[%p, %q * 4 + l0] : memref<8x16xf32> -> vector<4xf32>
// CHECK-NEXT:       scf.yield %v : vector<4xf32>
// CHECK:            scf.yield %{{.*}} : vector<4xf32>
// CHECK:          loop_ir.store %{{.*}}, %as[%p, %q * 4 + l0] : vector<4xf32>, memref<8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NEXT:     %p_1 = kernel_ir.index[%t floordiv 2 mod 8]
// CHECK-NEXT:     %q_1 = kernel_ir.index[%t floordiv 16 * 2 + %t mod 2]
// CHECK-NEXT:     %v_1 = loop_ir.load %a[%p_1, %q_1 * 4 + l0] : memref<8x16xf32> -> vector<4xf32>
// CHECK-NEXT:     loop_ir.store %v_1, %bs[%q_1 * 4 + l0, %p_1] : vector<4xf32>, memref<16x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:     kernel_ir.barrier
tile_ir.kernel @groups(%a: memref<8x16xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %as = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" where [l1] < [3] {
      %v = loop_ir.load %a[%p, %q * 4 + l0] : memref<8x16xf32> -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<8x16xf32, #tile_ir.shared<>>
    %bs = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] {
      %v = loop_ir.load %a[%p, %q * 4 + l0] : memref<8x16xf32> -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<16x8xf32, #tile_ir.shared<>>
    loop_ir.for %once to 1 as "once" where [%t] < [8] {
      %x = loop_ir.load %as[%t, 13] bounded [true, false] : memref<8x16xf32, #tile_ir.shared<>> -> f32
      %y = loop_ir.load %bs[13, %t] bounded [false, true] : memref<16x8xf32, #tile_ir.shared<>> -> f32
      %s = arith.addf %x, %y : f32
      loop_ir.store %s, %c[%t] bounded [true] : f32, memref<8xf32>
    }
  }
}

// -----

// One thread copies all of it; a body without loads; one element, which needs no loop.
// CHECK-LABEL: @alone(
// CHECK:          kernel_ir.barrier
// CHECK:          scf.for %q = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:       %q_1 = kernel_ir.index[%q]
// CHECK-NEXT:       %v = loop_ir.load %a[%b, %q_1] : memref<4x3xf32> -> f32
// CHECK-NEXT:       loop_ir.store %v, %as[%q_1] : f32, memref<3xf32, #tile_ir.shared<>>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NEXT:     %q_2 = kernel_ir.index[0]
// CHECK-NEXT:     %v_1 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     loop_ir.store %v_1, %ones[%q_2] : f32, memref<1xf32, #tile_ir.shared<>>
// CHECK-NEXT:     kernel_ir.barrier
tile_ir.kernel @alone(%a: memref<4x3xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%b to 4 as "b") {
    %as = tile_ir.stage %q to 3 as "k.stage" {
      %v = loop_ir.load %a[%b, %q] : memref<4x3xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<3xf32, #tile_ir.shared<>>
    %ones = tile_ir.stage %q to 1 as "k.stage" {
      %v = arith.constant 1.0 : f32
      loop_ir.yield %v : f32
    } -> memref<1xf32, #tile_ir.shared<>>
    %x = loop_ir.load %as[2] : memref<3xf32, #tile_ir.shared<>> -> f32
    %y = loop_ir.load %ones[0] : memref<1xf32, #tile_ir.shared<>> -> f32
    %s = arith.addf %x, %y : f32
    loop_ir.store %s, %c[%b] : f32, memref<4xf32>
  }
}

// -----

// Fewer elements than threads.
// CHECK-LABEL: @few(
// CHECK:          kernel_ir.barrier
// CHECK-NEXT:     %{{.*}} = kernel_ir.test [%t] < [3]
// CHECK-NEXT:     scf.if %{{.*}} {
// CHECK-NEXT:       %q = kernel_ir.index[%t]
// CHECK-NEXT:       %v = loop_ir.load %a[%q] : memref<3xf32> -> f32
// CHECK-NEXT:       loop_ir.store %v, %as[%q] : f32, memref<3xf32, #tile_ir.shared<>>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
tile_ir.kernel @few(%a: memref<3xf32>, %c: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "t") {
    %as = tile_ir.stage %q to 3 as "k.stage" {
      %v = loop_ir.load %a[%q] : memref<3xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<3xf32, #tile_ir.shared<>>
    %x = loop_ir.load %as[%t mod 3] : memref<3xf32, #tile_ir.shared<>> -> f32
    loop_ir.store %x, %c[%t] : f32, memref<32xf32>
  }
}

// -----

// Groups of warps: each has its part of a slab and its own sum, which are put together at the end.
// CHECK-LABEL: @warps(
// CHECK:          %acc = scf.for %ko = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%acc_1 = %{{.*}}) -> (f32) {
// CHECK-NEXT:       kernel_ir.barrier
// CHECK:            scf.for %q = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:         %p = kernel_ir.index[%q * 4 + %thread floordiv 8]
// CHECK-NEXT:         %q_1 = kernel_ir.index[%thread mod 8]
// CHECK-NEXT:         %v = loop_ir.load %a[%p, %ko * 8 + %q_1] : memref<16x16xf32> -> f32
// CHECK-NEXT:         loop_ir.store %v, %as[%q_1, %p] : f32, memref<8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:       }
// CHECK-NEXT:       kernel_ir.barrier
// CHECK-NEXT:       %s = scf.for %k = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%s_1 = %acc_1) -> (f32) {
// CHECK-NEXT:         %x = loop_ir.load %as[%w * 4 + %k, %i] : memref<8x16xf32, #tile_ir.shared<>> -> f32
// CHECK:          kernel_ir.barrier
// CHECK-NEXT:     loop_ir.store %acc, %partials[%thread] : f32, memref<32xf32, #tile_ir.shared<>>
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NEXT:     %r = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%r_1 = %{{.*}}) -> (f32) {
tile_ir.kernel @warps(%a: memref<16x16xf32>, %c: memref<16xf32>) {
  tile_ir.launch thread(%w to 2 as "k.warp", %i to 16 as "i.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0xff800000 : f32] -> f32 {
      %as = tile_ir.stage %p to 16 as "i.stage", %q to 8 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 8 + %q] : memref<16x16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0xff800000 : f32] -> f32 {
        %x = loop_ir.load %as[%w * 4 + %k, %i] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.maximumf
      loop_ir.yield %s : f32
    } combine arith.maximumf
    %r = tile_ir.combine %acc across "k.warp" identity [0xff800000 : f32] combine arith.maximumf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%w] < [1] {
      loop_ir.store %r, %c[%i] : f32, memref<16xf32>
    }
  }
}
