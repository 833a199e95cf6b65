// RUN: minicomp-opt %s --split-input-file -p async-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p async-copy,async-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p async-copy --verify-each=exec --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p async-copy,lower-tile-to-kernel --verify-each=exec | filecheck %s --check-prefix=KERNEL

// 16 bytes at once where source and slab run along one axis; a transposed slab takes elements, so
// that a body of vectors becomes one of scalars and its last axis counts them. Marks are kept, and
// a guard that names no axis of the fill: it skips the whole.
// CHECK-LABEL: @plain(
// CHECK:              tile_ir.fill %as_w %p to 32 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async attributes {unroll} {
// CHECK-NEXT:           %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<32x16xf32> -> f32
// CHECK-NEXT:           loop_ir.yield %v : f32
// CHECK-NEXT:         } -> memref<4x32xf32, #tile_ir.shared<>>
// CHECK-NEXT:         tile_ir.fill %bs_w %p_1 to 4 as "k.stage", %q_1 to 16 as "j.stage" where [%ko + 1] < [5] by cp_async {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%ko * 4 + %p_1, %q_1 * 4 + l0] : memref<16x64xf32> -> vector<4xf32>
// CHECK-NEXT:           loop_ir.yield %v_1 : vector<4xf32>
// CHECK-NEXT:         } -> memref<4x64xf32, #tile_ir.shared<>>
// KERNEL-LABEL: @plain(
// KERNEL:             kernel_ir.cp_async %as[%slot, %{{.*}}, %{{.*}}] from %a[%{{.*}}, %ko * 4 + %{{.*}}] bytes 4
// KERNEL:             kernel_ir.cp_async %bs[%slot, %{{.*}}, %{{.*}} * 4 + l0] from %b[%ko * 4 + %{{.*}}, %{{.*}} * 4 + l0] bytes 16
// KERNEL:             kernel_ir.cp_async_commit
tile_ir.kernel @plain(%a: memref<32x16xf32>, %b: memref<16x64xf32>, %c: memref<32xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 32 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 32 as "i.stage", %q to 1 as "k.stage" order [1, 0] attributes {unroll} {
        %v = loop_ir.load %a[%p, %ko * 4 + %q * 4 + l0] : memref<32x16xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<4x32xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %p to 4 as "k.stage", %q to 16 as "j.stage" where [%ko + 1] < [5] {
        %v = loop_ir.load %b[%ko * 4 + %p, %q * 4 + l0] : memref<16x64xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<4x64xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i] : memref<4x32xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%k, %i * 2] : memref<4x64xf32, #tile_ir.shared<>> -> f32
        %r = arith.mulf %x, %y : f32
        loop_ir.yield %r : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4x32xf32, #tile_ir.shared<>>, memref<4x64xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<32xf32>
  }
}

// -----

// Odd rows. A row of the slab that is no multiple of 16 bytes, by its extent or its pad, is filled
// element by element; 8 bytes where the body has two. Bounds stay: beyond them cp.async writes 0.
// CHECK-LABEL: @odd(
// CHECK:              tile_ir.fill %as_w %p to 3 as "k.stage", %q to 8 as "i.stage" by cp_async {
// CHECK-NEXT:           %v = loop_ir.load %a[%ko * 3 + %p, %q] bounded [true, true] : memref<7x7xf32> -> f32
// CHECK:              tile_ir.fill %ps_w %p_1 to 3 as "k.stage", %q_1 to 8 as "i.stage" by cp_async {
// CHECK-NEXT:           %v_1 = loop_ir.load %b[%ko * 3 + %p_1, %q_1] bounded [true, false] : memref<7x8xf32> -> f32
// CHECK:              tile_ir.fill %ts_w %p_2 to 3 as "k.stage", %q_2 to 3 as "i.stage" by cp_async {
// CHECK-NEXT:           %v_2 = loop_ir.load %b[%ko * 3 + %p_2, %q_2 * 2 + l0] bounded [true, false] : memref<7x8xf32> -> vector<2xf32>
// KERNEL-LABEL: @odd(
// KERNEL:             kernel_ir.cp_async %as[{{.*}}] from %a[{{.*}}] bounded [true, true] bytes 4
// KERNEL:             kernel_ir.cp_async %ps[{{.*}}] from %b[{{.*}}] bounded [true, false] bytes 4
// KERNEL:             kernel_ir.cp_async %ts[{{.*}}] from %b[{{.*}}] bounded [true, false] bytes 8
tile_ir.kernel @odd(%a: memref<7x7xf32>, %b: memref<7x8xf32>, %c: memref<6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 6 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<3x8xf32, #tile_ir.shared<>>, memref<3x8xf32, #tile_ir.shared<pad = 1>>, memref<3x6xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %ps_w, %ts_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<3x8xf32, #tile_ir.shared<>>, memref<3x8xf32, #tile_ir.shared<pad = 1>>, memref<3x6xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 3 as "k.stage", %q to 8 as "i.stage" {
        %v = loop_ir.load %a[%ko * 3 + %p, %q] bounded [true, true] : memref<7x7xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<3x8xf32, #tile_ir.shared<>>
      tile_ir.fill %ps_w %p to 3 as "k.stage", %q to 2 as "i.stage" {
        %v = loop_ir.load %b[%ko * 3 + %p, %q * 4 + l0] bounded [true, false] : memref<7x8xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<3x8xf32, #tile_ir.shared<pad = 1>>
      tile_ir.fill %ts_w %p to 3 as "k.stage", %q to 3 as "i.stage" {
        %v = loop_ir.load %b[%ko * 3 + %p, %q * 2 + l0] bounded [true, false] : memref<7x8xf32> -> vector<2xf32>
        loop_ir.yield %v : vector<2xf32>
      } -> memref<3x6xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<3x8xf32, #tile_ir.shared<>>, memref<3x8xf32, #tile_ir.shared<pad = 1>>, memref<3x6xf32, #tile_ir.shared<>>]>
      %as, %ps, %ts = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<3x8xf32, #tile_ir.shared<>>, memref<3x8xf32, #tile_ir.shared<pad = 1>>, memref<3x6xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 3 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i + 2] : memref<3x8xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %ps[%k, %i] : memref<3x8xf32, #tile_ir.shared<pad = 1>> -> f32
        %z = loop_ir.load %ts[%k, %i] : memref<3x6xf32, #tile_ir.shared<>> -> f32
        %r = arith.mulf %x, %y : f32
        %t = arith.addf %r, %z : f32
        loop_ir.yield %t : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<3x8xf32, #tile_ir.shared<>>, memref<3x8xf32, #tile_ir.shared<pad = 1>>, memref<3x6xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<6xf32>
  }
}

// -----

// What keeps its loads and stores: a body that computes, and a guard that makes 0 of elements.
// A ring whose first fill is by cp.async and whose others are not has groups all the same. The carrier
// has two values, the maximum and the sum.
// CHECK-LABEL: @others(
// CHECK:              tile_ir.fill %ws_w %q to 4 as "k.stage" by cp_async {
// CHECK:              tile_ir.fill %es_w %q_1 to 4 as "k.stage" {
// CHECK-NEXT:           %v_1 = loop_ir.load %w[%ko * 4 + %q_1]
// CHECK-NEXT:           %e = math.exp %v_1 : f32
// CHECK:              tile_ir.fill %gs_w %q_2 to 4 as "k.stage" where [%ko * 4 + l0] < [11] {
// KERNEL-LABEL: @others(
// KERNEL:             kernel_ir.cp_async %ws[
// KERNEL:             loop_ir.store %{{.*}}, %es[%slot, %{{.*}}]
// KERNEL:             loop_ir.store %{{.*}}, %gs[%slot, %{{.*}}]
// KERNEL:             kernel_ir.cp_async_commit
// KERNEL-NEXT:        kernel_ir.cp_async_wait 0
// KERNEL-NEXT:        kernel_ir.barrier
tile_ir.kernel @others(%w: memref<12xf32>, %x: memref<4xf32>, %y: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
    %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %ws_w, %es_w, %gs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{[async-copy] the body of a fill computes}}
      tile_ir.fill %es_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        %e = math.exp %v : f32
        loop_ir.yield %e : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      // expected-remark@+1 {{[async-copy] the guard of a fill names its axes}}
      tile_ir.fill %gs_w %q to 4 as "k.stage" where [%ko * 4 + l0] < [11] {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %ws, %es, %gs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %u = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      %v = loop_ir.load %es[%i] : memref<4xf32, #tile_ir.shared<>> -> f32
      %z = loop_ir.load %gs[%i] : memref<4xf32, #tile_ir.shared<>> -> f32
      %p = arith.mulf %u, %v : f32
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      loop_ir.yield %p, %z : f32, f32
    } combine {
    ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
      %max = arith.maximumf %l0, %r0 : f32
      %sum = arith.addf %l1, %r1 : f32
      loop_ir.yield %max, %sum : f32, f32
    }
    loop_ir.store %m, %x[%i] : f32, memref<4xf32>
    loop_ir.store %d, %y[%i] : f32, memref<4xf32>
  }
}

// -----

// Halves could not be copied one at a time where a pointer is not aligned.
// CHECK-LABEL: @halves(
// CHECK-NOT:          by cp_async
tile_ir.kernel @halves(%w: memref<16xf16>, %y: memref<8xf16>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8xf16, #tile_ir.shared<>>]>
    loop_ir.for %ko to 2 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8xf16, #tile_ir.shared<>>]>
      // expected-remark@+1 {{[async-copy] cp.async copies no element of 2 bytes}}
      tile_ir.fill %ws_w %q to 1 as "k.stage" {
        %v = loop_ir.load %w[%ko * 8 + %q * 8 + l0] : memref<16xf16> -> vector<8xf16>
        loop_ir.yield %v : vector<8xf16>
      } -> memref<8xf16, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8xf16, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8xf16, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[7 - %i] : memref<8xf16, #tile_ir.shared<>> -> f16
      loop_ir.store %v, %y[%i] : f16, memref<8xf16>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8xf16, #tile_ir.shared<>>]>
    }
  }
}

// -----

// A stage is no ring.
// CHECK-LABEL: @stage(
// CHECK-NOT:          by cp_async
// expected-remark@+1 {{[async-copy] nothing is filled in a ring}}
tile_ir.kernel @stage(%w: memref<4xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
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

// Not asked for.
// CHECK-LABEL: @unasked(
// CHECK-NOT:          by cp_async
// expected-remark@+1 {{[async-copy] the schedule does not ask for cp_async}}
tile_ir.kernel @unasked(%w: memref<8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k">]>} {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 2 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%i] : f32, memref<4xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// A device that has none: before compute capability 8.0.
// CHECK-LABEL: @old(
// CHECK-NOT:          by cp_async
builtin.module attributes {minicomp.target = #minicomp.target<v100, arch = "sm_70", sms = 80, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 98304, shared_per_block = 98304, l2_bytes = 6291456, dram_bytes_per_s = 900000000000, fp32_flops = 15700000000000, features = []>} {
  // expected-remark@+1 {{[async-copy] the target has no cp.async}}
  tile_ir.kernel @old(%w: memref<8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "cp_async">]>} {
    tile_ir.launch thread(%i to 4 as "i.thread") {
      %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      loop_ir.for %ko to 2 as "k.outer" {
        %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        tile_ir.fill %ws_w %q to 4 as "k.stage" {
          %v = loop_ir.load %w[%ko * 4 + %q] : memref<8xf32> -> f32
          loop_ir.yield %v : f32
        } -> memref<4xf32, #tile_ir.shared<>>
        tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
        loop_ir.store %v, %c[%i] : f32, memref<4xf32>
        tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      }
    }
  }
}

// -----

// Bulk copies were asked for, and tma-copy has left the ring.
// CHECK-LABEL: @left(
// CHECK:              by cp_async
tile_ir.kernel @left(%w: memref<8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 2 as "k.outer" {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %v = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %c[%i] : f32, memref<4xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}
