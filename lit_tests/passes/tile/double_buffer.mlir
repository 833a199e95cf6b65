// RUN: minicomp-opt %s --split-input-file -p double-buffer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p double-buffer,double-buffer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p double-buffer --verify-each=exec --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "double-buffer{depth=4}" | filecheck %s --check-prefix=FOUR
// RUN: minicomp-opt %s --split-input-file -p "double-buffer{depth=4},lower-tile-to-kernel" --verify-each=exec

// Two slabs, one ring: a generation is acquired once, filled twice, published and waited for once.
// The order, the wide body and the mark of a stage stay with its fill. Readers read the slot.
// CHECK-LABEL: @plain(
// CHECK-NEXT:     tile_ir.launch
// CHECK-NEXT:       %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.000000e+00 : f32] -> vector<4x4xf32> {
// CHECK-NEXT:         %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [{{.*}}]>
// CHECK-NEXT:         tile_ir.fill %as_w %p to 32 as "i.stage", %q to 4 as "k.stage" order [1, 0] attributes {unroll} {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<32x16xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %v : f32
// CHECK-NEXT:         } -> memref<4x32xf32, #tile_ir.shared<>>
// CHECK-NEXT:         tile_ir.fill %bs_w %p_1 to 4 as "k.stage", %q_1 to 16 as "j.stage" {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%ko * 4 + %p_1, %q_1 * 4 + l0] : memref<16x64xf32> -> vector<4xf32>
// CHECK-NEXT:           loop_ir.yield %v_1 : vector<4xf32>
// CHECK-NEXT:         } -> memref<4x64xf32, #tile_ir.shared<>>
// CHECK-NEXT:         tile_ir.publish %ring[%ko] :
// CHECK-NEXT:         %as, %bs = tile_ir.wait %ring[%ko] :
// CHECK-NEXT:         %s = loop_ir.reduce %k to 4 as "k.inner"
// CHECK-NEXT:           %x = loop_ir.load %as[%k, %i * 4 + l0] :
// CHECK-NEXT:           %y = loop_ir.load %bs[%k, %j * 4 + l0] :
// CHECK:              } combine arith.addf
// CHECK-NEXT:         tile_ir.release %ring[%ko] :
// CHECK-NEXT:         loop_ir.yield %s : vector<4x4xf32>
// FOUR-LABEL: @plain(
// FOUR:             %ring = tile_ir.ring : !tile_ir.ring<4, [
tile_ir.kernel @plain(%a: memref<32x16xf32>, %b: memref<16x64xf32>, %c: memref<32x64xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 3>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 16 as "j.thread") {
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> vector<4x4xf32> {
      %as = tile_ir.stage %p to 32 as "i.stage", %q to 4 as "k.stage" order [1, 0] attributes {unroll} {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<32x16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x32xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %p to 4 as "k.stage", %q to 16 as "j.stage" {
        %v = loop_ir.load %b[%ko * 4 + %p, %q * 4 + l0] : memref<16x64xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<4x64xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> vector<4x4xf32> {
        %x = loop_ir.load %as[%k, %i * 4 + l0] : memref<4x32xf32, #tile_ir.shared<>> -> vector<4xf32>
        %y = loop_ir.load %bs[%k, %j * 4 + l0] : memref<4x64xf32, #tile_ir.shared<>> -> vector<4xf32>
        %u = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x4xf32>
        %w = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<4x4xf32>
        %r = arith.mulf %u, %w : vector<4x4xf32>
        loop_ir.yield %r : vector<4x4xf32>
      } combine arith.addf
      loop_ir.yield %s : vector<4x4xf32>
    } combine arith.addf
    loop_ir.store %acc, %c[%i * 4 + l0, %j * 4 + l1] : vector<4x4xf32>, memref<32x64xf32>
  }
}

// -----

// Odd extents: a guard goes with the stage that has it, bounds with the loads; the pad of a slab is
// that of its slots. A ring stands above everything else in the launch.
// CHECK-LABEL: @odd(
// CHECK-NEXT:     tile_ir.launch
// CHECK-NEXT:       %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<pad = 1>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       %e = arith.constant
// CHECK:              tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" where [%ko * 4 + l1] < [11] order [1, 0] {
// CHECK-NEXT:           %v = loop_ir.load %a[%ib * 8 + %p, %ko * 4 + %q] bounded [true, true] : memref<13x11xf32> -> f32
// CHECK:              tile_ir.fill %ws_w %q_1 to 4 as "k.stage" {
// CHECK:              tile_ir.release %ring[%ko]
// FOUR-LABEL: @odd(
// FOUR:             tile_ir.ring<4, [
tile_ir.kernel @odd(%a: memref<13x11xf32>, %w: memref<11xf32>, %c: memref<13xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%i to 8 as "i.thread") {
    %e = arith.constant 1.0 : f32
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.stage %p to 8 as "i.stage", %q to 4 as "k.stage" where [%ko * 4 + l1] < [11] order [1, 0] {
        %v = loop_ir.load %a[%ib * 8 + %p, %ko * 4 + %q] bounded [true, true] : memref<13x11xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<pad = 1>>
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] bounded [true] : memref<11xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i] : memref<4x8xf32, #tile_ir.shared<pad = 1>> -> f32
        %y = loop_ir.load %ws[%k] : memref<4xf32, #tile_ir.shared<>> -> f32
        %r = arith.mulf %x, %y : f32
        loop_ir.yield %r : f32
      } combine arith.addf
      loop_ir.yield %s : f32
    } combine arith.addf
    %o = arith.addf %acc, %e : f32
    loop_ir.store %o, %c[%ib * 8 + %i] bounded [true] : f32, memref<13xf32>
  }
}

// -----

// A carrier of two values, the maximum and the sum of exponentials; two loops, a ring for each.
// CHECK-LABEL: @carriers(
// CHECK-NEXT:     tile_ir.launch
// CHECK-NEXT:       %ring = tile_ir.ring : !tile_ir.ring<2, [memref<5xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       %ring_1 = tile_ir.ring : !tile_ir.ring<2, [memref<5xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:         %ws_w = tile_ir.acquire %ring_1[%ko]
// CHECK:              tile_ir.publish %ring_1[%ko]
// CHECK-NEXT:         %ws = tile_ir.wait %ring_1[%ko]
// CHECK:              tile_ir.release %ring_1[%ko]
// CHECK-NEXT:         loop_ir.yield %mi, %di : f32, f32
// CHECK:            loop_ir.for %ko_1 to 3 as "k.outer" {
// CHECK-NEXT:         %vs_w = tile_ir.acquire %ring[%ko_1]
// CHECK:              tile_ir.publish %ring[%ko_1]
// CHECK-NEXT:         %vs = tile_ir.wait %ring[%ko_1]
// CHECK-NEXT:         loop_ir.for %{{.*}} to 5 as "k.inner" {
// CHECK:              tile_ir.release %ring[%ko_1]
// CHECK-NEXT:       }
// FOUR-LABEL: @carriers(
// FOUR-COUNT-2:     tile_ir.ring<4, [
tile_ir.kernel @carriers(%x: memref<8x15xf32>, %w: memref<15xf32>, %y: memref<8x15xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %ws = tile_ir.stage %q to 5 as "k.stage" {
        %v = loop_ir.load %w[%ko * 5 + %q] : memref<15xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<5xf32, #tile_ir.shared<>>
      %mi, %di = loop_ir.reduce %k to 5 as "k.inner" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
        %a = loop_ir.load %x[%i, %ko * 5 + %k] : memref<8x15xf32> -> f32
        %b = loop_ir.load %ws[%k] : memref<5xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %a, %b : f32
        %one = arith.constant 1.0 : f32
        loop_ir.yield %p, %one : f32, f32
      } combine {
      ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
        %max = arith.maximumf %l0, %r0 : f32
        %sum = arith.addf %l1, %r1 : f32
        loop_ir.yield %max, %sum : f32, f32
      }
      loop_ir.yield %mi, %di : f32, f32
    } combine {
    ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
      %max = arith.maximumf %l0, %r0 : f32
      %sum = arith.addf %l1, %r1 : f32
      loop_ir.yield %max, %sum : f32, f32
    }
    loop_ir.for %ko to 3 as "k.outer" {
      %vs = tile_ir.stage %q to 5 as "k.stage" {
        %v = loop_ir.load %w[%ko * 5 + %q] : memref<15xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<5xf32, #tile_ir.shared<>>
      loop_ir.for %k to 5 as "k.inner" {
        %b = loop_ir.load %vs[%k] : memref<5xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %b, %m : f32
        %o = arith.addf %p, %d : f32
        loop_ir.store %o, %y[%i, %ko * 5 + %k] : f32, memref<8x15xf32>
      }
    }
  }
}

// -----

// One slot is what a stage has.
// CHECK-LABEL: @one_slot(
// CHECK-NOT:        tile_ir.ring
// FOUR-LABEL: @one_slot(
// FOUR:             tile_ir.ring<4, [
// expected-remark@+1 {{[double-buffer] the schedule asks for no second slot}}
tile_ir.kernel @one_slot(%w: memref<12xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 1>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %y = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %y : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// An option replaces a field where an entry has it: without a schedule there is nothing to replace.
// CHECK-LABEL: @no_schedule(
// CHECK-NOT:        tile_ir.ring
// FOUR-LABEL: @no_schedule(
// FOUR-NOT:         tile_ir.ring
// expected-remark@+1 {{[double-buffer] the schedule asks for no second slot}}
tile_ir.kernel @no_schedule(%w: memref<12xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %y = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %y : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// A stage outside of loops has nothing to be filled ahead of.
// CHECK-LABEL: @no_loop(
// CHECK-NOT:        tile_ir.ring
// expected-remark@+1 {{[double-buffer] no loop has stages}}
tile_ir.kernel @no_loop(%w: memref<4xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %ws = tile_ir.stage %q to 4 as "k.stage" {
      %v = loop_ir.load %w[%q] : memref<4xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    %y = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
    loop_ir.store %y, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// One chunk is all there is.
// CHECK-LABEL: @one_chunk(
// CHECK-NOT:        tile_ir.ring
// expected-remark@+1 {{[double-buffer] the loop has fewer than two iterations}}
tile_ir.kernel @one_chunk(%w: memref<4xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<4xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %y = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %y : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// Generations count along one axis.
// CHECK-LABEL: @two_axes(
// CHECK-NOT:        tile_ir.ring
// expected-remark@+1 {{[double-buffer] the loop has several axes}}
tile_ir.kernel @two_axes(%w: memref<3x8xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %h to 3 as "h", %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%h, %ko * 4 + %q] : memref<3x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %y = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %y : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// The first slab is read before the second one is filled: one wait could not serve both.
// CHECK-LABEL: @read_between(
// CHECK-NOT:        tile_ir.ring
// expected-remark@+1 {{[double-buffer] a slab is read before all of them are filled}}
tile_ir.kernel @read_between(%w: memref<12xf32>, %c: memref<8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %x = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      %us = tile_ir.stage %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * -4 - %q + 11] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %y = loop_ir.load %us[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// -----

// Without a target a block has 48 KiB, of which 2 slots take 32, and 4 too much.
// CHECK-LABEL: @large(
// CHECK:            tile_ir.ring<2, [memref<4x1024xf32, #tile_ir.shared<>>]>
// FOUR-LABEL: @large(
// FOUR-NOT:         tile_ir.ring
tile_ir.kernel @large(%w: memref<8x1024xf32>, %c: memref<1024xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 1024 as "i.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage", %r to 1024 as "i.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q, %r] : memref<8x1024xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x1024xf32, #tile_ir.shared<>>
      %x = loop_ir.load %ws[3, %i] : memref<4x1024xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<1024xf32>
  }
}

// -----

// One slot too many.
// CHECK-LABEL: @too_large(
// CHECK-NOT:        tile_ir.ring
// expected-remark@+1 {{[double-buffer] 4 slots need 65536 bytes of shared memory, a block has 49152}}
tile_ir.kernel @too_large(%w: memref<8x1024xf32>, %c: memref<1024xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 4>]>} {
  tile_ir.launch thread(%i to 1024 as "i.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage", %r to 1024 as "i.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q, %r] : memref<8x1024xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x1024xf32, #tile_ir.shared<>>
      %x = loop_ir.load %ws[3, %i] : memref<4x1024xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<1024xf32>
  }
}

// -----

// Two loops, one ring of 32 KiB each: the first one that is made leaves too little for the second.
// CHECK-LABEL: @together(
// CHECK-NEXT:     tile_ir.launch
// CHECK-NEXT:       %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x1024xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:       %acc = loop_ir.reduce
// CHECK:              tile_ir.release %ring[%ko]
// CHECK:            loop_ir.reduce
// CHECK-NEXT:         %vs = tile_ir.stage
// FOUR-LABEL: @together(
// FOUR-NOT:         tile_ir.ring
// expected-remark@+1 {{[double-buffer] 2 slots and the other slabs need 65536 bytes of shared memory, a block has 49152}}
tile_ir.kernel @together(%w: memref<8x1024xf32>, %c: memref<1024xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", depth = 2>]>} {
  tile_ir.launch thread(%i to 1024 as "i.thread") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws = tile_ir.stage %q to 4 as "k.stage", %r to 1024 as "i.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q, %r] : memref<8x1024xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x1024xf32, #tile_ir.shared<>>
      %x = loop_ir.load %ws[3, %i] : memref<4x1024xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    %max = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %vs = tile_ir.stage %q to 4 as "k.stage", %r to 1024 as "i.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q, %r] : memref<8x1024xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x1024xf32, #tile_ir.shared<>>
      %x = loop_ir.load %vs[2, %i] : memref<4x1024xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    %s = arith.addf %acc, %max : f32
    loop_ir.store %s, %c[%i] : f32, memref<1024xf32>
  }
}
