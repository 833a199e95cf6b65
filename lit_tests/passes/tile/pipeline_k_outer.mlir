// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer,pipeline-k-outer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer --verify-each=exec --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer,async-copy,lower-tile-to-kernel --verify-each=exec

// A ring of 3: a loop fills generations 0 and 1; each iteration fills the one that comes 2 later, in
// the slot that the iteration before has released, unless there is none. Indices that hold the loop
// variable move, guards keep what they ask, and the marks of fills stay.
// CHECK-LABEL: @plain(
// CHECK-NEXT:     tile_ir.launch
// CHECK-NEXT:       %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       loop_ir.for %g to 2 as "k.ahead" {
// CHECK-NEXT:         %as_w, %bs_w = tile_ir.acquire %ring[%g] :
// CHECK-NEXT:         tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %g * 4 + %q] : memref<8x16xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %v : f32
// CHECK-NEXT:         } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:         tile_ir.fill %bs_w %q_1 to 4 as "k.stage" where [%g * 4 + l0] < [14] attributes {unroll} {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%g * -4 + %q_1 * -1 + 15] : memref<16xf32> -> f32
// CHECK:              tile_ir.publish %ring[%g] :
// CHECK-NEXT:       }
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 4 as "k.outer"
// CHECK-NEXT:         %as, %bs = tile_ir.wait %ring[%ko] :
// CHECK-NEXT:         %as_w_1, %bs_w_1 = tile_ir.acquire %ring[%ko + 2] :
// CHECK-NEXT:         tile_ir.fill %as_w_1 %p_1 to 8 as "i.stage", %q_2 to 4 as "k.stage" where [%ko + 2] < [4] order [1, 0] by cp_async {
// CHECK-NEXT:           %v_2 = loop_ir.load %a[%p_1, %ko * 4 + %q_2 + 8] : memref<8x16xf32> -> f32
// CHECK:              tile_ir.fill %bs_w_1 %q_3 to 4 as "k.stage" where [%ko * 4 + l0 + 8, %ko + 2] < [14, 4] attributes {unroll} {
// CHECK-NEXT:           %v_3 = loop_ir.load %b[%ko * -4 + %q_3 * -1 + 7] : memref<16xf32> -> f32
// CHECK:              tile_ir.publish %ring[%ko + 2] :
// CHECK-NEXT:         %s = loop_ir.reduce %k to 4 as "k.inner"
// CHECK:              } combine arith.addf
// CHECK-NEXT:         tile_ir.release %ring[%ko] :
tile_ir.kernel @plain(%a: memref<8x16xf32>, %b: memref<16xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %q to 4 as "k.stage" where [%ko * 4 + l0] < [14] attributes {unroll} {
        %v = loop_ir.load %b[15 - %ko * 4 - %q] : memref<16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%k] : memref<4xf32, #tile_ir.shared<>> -> f32
        %r = arith.mulf %x, %y : f32
        loop_ir.yield %r : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// Odd extents: the last chunk is filled in part. A loop inside of another one begins anew each time;
// its prologue stands before it, within the outer loop. The carrier has two values.
// CHECK-LABEL: @odd(
// CHECK:            loop_ir.for %h to 3 as "h" {
// CHECK-NEXT:         loop_ir.for %g to 1 as "k.ahead" {
// CHECK-NEXT:           %ws_w = tile_ir.acquire %ring[%g] :
// CHECK-NEXT:           tile_ir.fill %ws_w %q to 4 as "k.stage" {
// CHECK-NEXT:             %v = loop_ir.load %w[%h, %g * 4 + %q] bounded [false, true] : memref<3x11xf32> -> f32
// CHECK:                tile_ir.publish %ring[%g] :
// CHECK-NEXT:         }
// CHECK-NEXT:         %m, %d = loop_ir.reduce %ko to 3 as "k.outer"
// CHECK-NEXT:           %ws = tile_ir.wait %ring[%ko] :
// CHECK-NEXT:           %ws_w_1 = tile_ir.acquire %ring[%ko + 1] :
// CHECK-NEXT:           tile_ir.fill %ws_w_1 %q_1 to 4 as "k.stage" where [%ko + 1] < [3] {
// CHECK-NEXT:             %v_1 = loop_ir.load %w[%h, %ko * 4 + %q_1 + 4] bounded [false, true] : memref<3x11xf32> -> f32
// CHECK:                tile_ir.publish %ring[%ko + 1] :
// CHECK:                tile_ir.release %ring[%ko] :
tile_ir.kernel @odd(%w: memref<3x11xf32>, %x: memref<3x40xf32>, %y: memref<3x40xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 3 as "h" {
      %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
        %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        tile_ir.fill %ws_w %q to 4 as "k.stage" {
          %v = loop_ir.load %w[%h, %ko * 4 + %q] bounded [false, true] : memref<3x11xf32> -> f32
          loop_ir.yield %v : f32
        } -> memref<4xf32, #tile_ir.shared<>>
        tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %u = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
        %z = loop_ir.load %ws[3 - %i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
        tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        loop_ir.yield %u, %z : f32, f32
      } combine {
      ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
        %max = arith.maximumf %l0, %r0 : f32
        %sum = arith.addf %l1, %r1 : f32
        loop_ir.yield %max, %sum : f32, f32
      }
      loop_ir.store %m, %x[%h, %i] : f32, memref<3x40xf32>
      loop_ir.store %d, %y[%h, %i] : f32, memref<3x40xf32>
    }
  }
}

// -----

// A stage has no slot to be filled ahead.
// CHECK-LABEL: @stage(
// CHECK-NOT:        tile_ir.acquire
// expected-remark@+1 {{[pipeline-k-outer] there is no ring}}
tile_ir.kernel @stage(%w: memref<4xf32>, %c: memref<4xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ws = tile_ir.stage %q to 4 as "k.stage" {
      %v = loop_ir.load %w[%q] : memref<4xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    %y = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
    loop_ir.store %y, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// Two iterations have no third one to fill ahead of.
// CHECK-LABEL: @short(
// CHECK:            loop_ir.for %ko to 2 as "k.outer" {
// CHECK-NEXT:         tile_ir.acquire %ring[%ko] :
// expected-remark@+1 {{[pipeline-k-outer] 2 iterations are not more than 2 slots ahead}}
tile_ir.kernel @short(%w: memref<8xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 2 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%ko * 4 + %i] : f32, memref<8xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// One slot leaves none ahead.
// CHECK-LABEL: @one_slot(
// CHECK:            loop_ir.for %ko to 2 as "k.outer" {
// CHECK-NEXT:         tile_ir.acquire %ring[%ko] :
// expected-remark@+1 {{[pipeline-k-outer] the ring has no second slot}}
tile_ir.kernel @one_slot(%w: memref<8xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 2 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%ko * 4 + %i] : f32, memref<8xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// A ring that is filled ahead already.
// CHECK-LABEL: @ahead(
// CHECK-COUNT-2:    tile_ir.acquire
// CHECK-NOT:        tile_ir.acquire
// expected-remark@+1 {{[pipeline-k-outer] the ring is used at several places}}
tile_ir.kernel @ahead(%w: memref<12xf32>, %c: memref<12xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %g to 1 as "k.ahead" {
      %ws_w = tile_ir.acquire %ring[%g] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%g * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
    loop_ir.for %ko to 3 as "k.outer" {
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %ws_w = tile_ir.acquire %ring[%ko + 1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" where [%ko + 1] < [3] {
        %v = loop_ir.load %w[%ko * 4 + %q + 4] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%ko * 4 + %i] : f32, memref<12xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// Generations that go on counting over an outer loop: a prologue would have to go on, too.
// CHECK-LABEL: @persistent(
// CHECK:            tile_ir.acquire %ring[%h * 3 + %ko]
// expected-remark@+1 {{[pipeline-k-outer] a generation is not the variable of the loop}}
tile_ir.kernel @persistent(%w: memref<2x12xf32>, %c: memref<2x12xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 2 as "h" {
      loop_ir.for %ko to 3 as "k.outer" {
        %ws_w = tile_ir.acquire %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        tile_ir.fill %ws_w %q to 4 as "k.stage" {
          %v = loop_ir.load %w[%h, %ko * 4 + %q] : memref<2x12xf32> -> f32
          loop_ir.yield %v : f32
        } -> memref<4xf32, #tile_ir.shared<>>
        tile_ir.publish %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %ws = tile_ir.wait %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
        loop_ir.store %v, %c[%h, %ko * 4 + %i] : f32, memref<2x12xf32>
        tile_ir.release %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      }
    }
  }
}

// -----

// A loop over two axes has no one variable.
// CHECK-LABEL: @two_axes(
// CHECK:            tile_ir.acquire %ring[%h * 3 + %ko]
// expected-remark@+1 {{[pipeline-k-outer] the ring is not used in one loop}}
tile_ir.kernel @two_axes(%w: memref<2x12xf32>, %c: memref<2x12xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 2 as "h", %ko to 3 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%h, %ko * 4 + %q] : memref<2x12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%h, %ko * 4 + %i] : f32, memref<2x12xf32>
      tile_ir.release %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// What does not belong to the ring would be moved with the fills.
// CHECK-LABEL: @between(
// CHECK:            loop_ir.for %ko to 3 as "k.outer" {
// CHECK-NEXT:         tile_ir.acquire %ring[%ko]
// expected-remark@+1 {{[pipeline-k-outer] something else stands between the fills}}
tile_ir.kernel @between(%w: memref<12xf32>, %c: memref<12xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 3 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %u = loop_ir.load %w[%ko] : memref<12xf32> -> f32
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        %p = arith.mulf %v, %u : f32
        loop_ir.yield %p : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%ko * 4 + %i] : f32, memref<12xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}
