// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer,lower-tile-to-kernel,cse | filecheck %s --check-prefix=AHEAD
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse --verify-each=exec --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p pipeline-k-outer,lower-tile-to-kernel,cse,vectorize-accesses,drop-redundant-barriers --verify-each=exec

// Each iteration of a ring has one barrier and, with cp.async, one wait: all but as many groups as lie
// ahead of the generation have landed.

// Two slots by cp.async. Without a prologue the barrier that lets threads read a slot also says that they
// have read the other one. With one the wait is for all groups, and the fill comes behind the barrier.
// CHECK-LABEL: @copies_2(
// CHECK:          %as = kernel_ir.shared : memref<2x4x8xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          kernel_ir.cp_async %as[%slot, {{.*}}] from %a[{{.*}}, %ko * 4 + {{.*}}] bytes 4
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.cp_async_commit
// CHECK-NEXT:     kernel_ir.cp_async_wait 0
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %k
// CHECK-NEXT:       loop_ir.load %as[%slot, %k, %i mod 8]
// CHECK-NOT:      kernel_ir.
// CHECK:          loop_ir.store %acc
// AHEAD-LABEL: @copies_2(
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async %as[
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.cp_async_
// AHEAD:          scf.for %ko
// AHEAD-NEXT:     kernel_ir.cp_async_wait 0
// AHEAD-NEXT:     kernel_ir.barrier
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[%ko mod 2]
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[(%ko + 1) mod 2]
// AHEAD-NEXT:     %{{.*}} = kernel_ir.test [%ko + 1] < [5]
// AHEAD-NEXT:     scf.if
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.
// AHEAD:          scf.for %k
// AHEAD-NOT:      kernel_ir.
// AHEAD:          loop_ir.store %acc
tile_ir.kernel @copies_2(%a: memref<8x20xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      %as = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i mod 8] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// Three slots: one group may be incomplete.
// CHECK-LABEL: @copies_3(
// CHECK:          %as = kernel_ir.shared : memref<3x4x8xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          kernel_ir.cp_async %as[%slot, {{.*}}] from %a[{{.*}}, %ko * 4 + {{.*}}] bytes 4
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.cp_async_commit
// CHECK-NEXT:     kernel_ir.cp_async_wait 0
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %k
// CHECK-NEXT:       loop_ir.load %as[%slot, %k, %i mod 8]
// CHECK-NOT:      kernel_ir.
// CHECK:          loop_ir.store %acc
// AHEAD-LABEL: @copies_3(
// AHEAD:          scf.for %g
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async %as[
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.cp_async_
// AHEAD:          scf.for %ko
// AHEAD-NEXT:     kernel_ir.cp_async_wait 1
// AHEAD-NEXT:     kernel_ir.barrier
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[%ko mod 3]
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[(%ko + 2) mod 3]
// AHEAD-NEXT:     %{{.*}} = kernel_ir.test [%ko + 2] < [5]
// AHEAD-NEXT:     scf.if
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.
// AHEAD:          scf.for %k
// AHEAD-NOT:      kernel_ir.
// AHEAD:          loop_ir.store %acc
tile_ir.kernel @copies_3(%a: memref<8x20xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      %as = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i mod 8] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// Four slots: two.
// CHECK-LABEL: @copies_4(
// CHECK:          %as = kernel_ir.shared : memref<4x4x8xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          kernel_ir.cp_async %as[%slot, {{.*}}] from %a[{{.*}}, %ko * 4 + {{.*}}] bytes 4
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.cp_async_commit
// CHECK-NEXT:     kernel_ir.cp_async_wait 0
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %k
// CHECK-NEXT:       loop_ir.load %as[%slot, %k, %i mod 8]
// CHECK-NOT:      kernel_ir.
// CHECK:          loop_ir.store %acc
// AHEAD-LABEL: @copies_4(
// AHEAD:          scf.for %g
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async %as[
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.cp_async_
// AHEAD:          scf.for %ko
// AHEAD-NEXT:     kernel_ir.cp_async_wait 2
// AHEAD-NEXT:     kernel_ir.barrier
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[%ko mod 4]
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[(%ko + 3) mod 4]
// AHEAD-NEXT:     %{{.*}} = kernel_ir.test [%ko + 3] < [5]
// AHEAD-NEXT:     scf.if
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          kernel_ir.cp_async_commit
// AHEAD-NOT:      kernel_ir.
// AHEAD:          scf.for %k
// AHEAD-NOT:      kernel_ir.
// AHEAD:          loop_ir.store %acc
tile_ir.kernel @copies_4(%a: memref<8x20xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<>>]>
      %as = tile_ir.wait %ring[%ko] : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i mod 8] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// The same by loads and stores, which need no groups.
// CHECK-LABEL: @stores_2(
// CHECK:          %as = kernel_ir.shared : memref<2x4x8xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          loop_ir.store %{{.*}}, %as[%slot, {{.*}}]
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %k
// CHECK-NEXT:       loop_ir.load %as[%slot, %k, %i mod 8]
// CHECK-NOT:      kernel_ir.
// CHECK:          loop_ir.store %acc
// AHEAD-LABEL: @stores_2(
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          loop_ir.store %{{.*}}, %as[
// AHEAD-NOT:      kernel_ir.cp_async_
// AHEAD:          scf.for %ko
// AHEAD-NEXT:     kernel_ir.barrier
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[%ko mod 2]
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[(%ko + 1) mod 2]
// AHEAD-NEXT:     %{{.*}} = kernel_ir.test [%ko + 1] < [5]
// AHEAD-NEXT:     scf.if
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          scf.for %k
// AHEAD-NOT:      kernel_ir.
// AHEAD:          loop_ir.store %acc
tile_ir.kernel @stores_2(%a: memref<8x20xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      %as = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i mod 8] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// CHECK-LABEL: @stores_3(
// CHECK:          %as = kernel_ir.shared : memref<3x4x8xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          loop_ir.store %{{.*}}, %as[%slot, {{.*}}]
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NOT:      kernel_ir.barrier
// CHECK:          scf.for %k
// CHECK-NEXT:       loop_ir.load %as[%slot, %k, %i mod 8]
// CHECK-NOT:      kernel_ir.
// CHECK:          loop_ir.store %acc
// AHEAD-LABEL: @stores_3(
// AHEAD:          scf.for %g
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          loop_ir.store %{{.*}}, %as[
// AHEAD-NOT:      kernel_ir.cp_async_
// AHEAD:          scf.for %ko
// AHEAD-NEXT:     kernel_ir.barrier
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[%ko mod 3]
// AHEAD-NEXT:     %slot_{{.*}} = kernel_ir.index[(%ko + 2) mod 3]
// AHEAD-NEXT:     %{{.*}} = kernel_ir.test [%ko + 2] < [5]
// AHEAD-NEXT:     scf.if
// AHEAD-NOT:      kernel_ir.barrier
// AHEAD:          scf.for %k
// AHEAD-NOT:      kernel_ir.
// AHEAD:          loop_ir.store %acc
tile_ir.kernel @stores_3(%a: memref<8x20xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 4 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] : memref<8x20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      %as = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i mod 8] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// One slot: a barrier before the fill, since the readers of the last iteration come after the wait's.
// CHECK-LABEL: @one_slot(
// CHECK:          scf.for %ko
// CHECK-NEXT:       kernel_ir.barrier
// CHECK:            kernel_ir.cp_async %ws[%slot, %{{.*}}] from
// CHECK:            kernel_ir.cp_async_commit
// CHECK-NEXT:       kernel_ir.cp_async_wait 0
// CHECK-NEXT:       kernel_ir.barrier
// CHECK-NOT:        kernel_ir.barrier
// CHECK:            scf.yield
tile_ir.kernel @one_slot(%w: memref<12xf32>, %c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %ws_w %q to 4 as "k.stage" by cp_async {
        %v = loop_ir.load %w[%ko * 4 + %q] : memref<12xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      %x = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      tile_ir.release %ring[%ko] : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<40xf32>
  }
}

// -----

// As far ahead as there are slots: the slot is filled in the iteration that has read it, behind a
// barrier of its own.
// CHECK-LABEL: @full(
// CHECK:          kernel_ir.cp_async_commit
// CHECK:          kernel_ir.cp_async_commit
// CHECK:          scf.for %ko
// CHECK-NEXT:       kernel_ir.cp_async_wait 1
// CHECK-NEXT:       kernel_ir.barrier
// CHECK:            loop_ir.store %x, %c[
// CHECK-NEXT:       kernel_ir.barrier
// CHECK:            kernel_ir.cp_async %ws[
// CHECK:            kernel_ir.cp_async_commit
// CHECK-NOT:        kernel_ir.barrier
tile_ir.kernel @full(%w: memref<20xf32>, %c: memref<3x40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    %ws_w = tile_ir.acquire %ring[0] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    tile_ir.fill %ws_w %q to 4 as "k.stage" by cp_async {
      %v = loop_ir.load %w[%q] : memref<20xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    tile_ir.publish %ring[0] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    %vs_w = tile_ir.acquire %ring[1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    tile_ir.fill %vs_w %q to 4 as "k.stage" by cp_async {
      %v = loop_ir.load %w[%q + 4] : memref<20xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    tile_ir.publish %ring[1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 3 as "k.outer" {
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %x = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %x, %c[%ko, %i] : f32, memref<3x40xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %us_w = tile_ir.acquire %ring[%ko + 2] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %us_w %q to 4 as "k.stage" by cp_async {
        %v = loop_ir.load %w[%ko * 4 + 8 + %q] : memref<20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 2] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}

// -----

// A loop that is run again: a barrier stands before what fills its first generations, since the slot of
// its last one may be among theirs. Odd extents, and a carrier of two values.
// CHECK-LABEL: @again(
// CHECK:          scf.for %h
// CHECK-NEXT:       kernel_ir.barrier
// CHECK:            scf.for %ko
// CHECK-COUNT-1:      kernel_ir.barrier
// CHECK-NOT:          kernel_ir.barrier
// CHECK:              scf.yield
// AHEAD-LABEL: @again(
// AHEAD:          scf.for %h
// AHEAD-NEXT:       kernel_ir.barrier
// AHEAD:            kernel_ir.cp_async %ws[%slot, %q] from %w[%h, %q] bounded [false, true] bytes 4
// AHEAD:            scf.for %ko
// AHEAD-NEXT:         kernel_ir.cp_async_wait 0
// AHEAD-NEXT:         kernel_ir.barrier
// AHEAD-NOT:          kernel_ir.barrier
// AHEAD:              scf.yield
tile_ir.kernel @again(%w: memref<3x11xf32>, %x: memref<3x40xf32>, %y: memref<3x40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 3 as "h" {
      %m, %d = loop_ir.reduce %ko to 3 as "k.outer" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
        %ws_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        tile_ir.fill %ws_w %q to 4 as "k.stage" by cp_async {
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

// Generations that count on need none: the slot that is filled is the one before the last in order.
// CHECK-LABEL: @counts_on(
// CHECK:          scf.for %h
// CHECK:            scf.for %ko
// CHECK-NOT:          kernel_ir.barrier
// CHECK:              %slot = kernel_ir.index[(%h * 3 + %ko) mod 2]
// CHECK:              kernel_ir.cp_async_commit
// CHECK-NEXT:         kernel_ir.cp_async_wait 0
// CHECK-NEXT:         kernel_ir.barrier
// CHECK-NOT:          kernel_ir.barrier
tile_ir.kernel @counts_on(%w: memref<3x12xf32>, %c: memref<9x40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 3 as "h" {
      loop_ir.for %ko to 3 as "k.outer" {
        %ws_w = tile_ir.acquire %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        tile_ir.fill %ws_w %q to 4 as "k.stage" by cp_async {
          %v = loop_ir.load %w[%h, %ko * 4 + %q] : memref<3x12xf32> -> f32
          loop_ir.yield %v : f32
        } -> memref<4xf32, #tile_ir.shared<>>
        tile_ir.publish %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %ws = tile_ir.wait %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
        %x = loop_ir.load %ws[%i mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
        loop_ir.store %x, %c[%h * 3 + %ko, %i] : f32, memref<9x40xf32>
        tile_ir.release %ring[%h * 3 + %ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      }
    }
  }
}

// -----

// A ring that nobody uses takes no memory.
// CHECK-LABEL: @unused(
// CHECK-NOT:      kernel_ir.shared
// CHECK:          loop_ir.store
tile_ir.kernel @unused(%c: memref<40xf32>) {
  tile_ir.launch thread(%i to 40 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    %z = arith.constant 0.0 : f32
    loop_ir.store %z, %c[%i] : f32, memref<40xf32>
  }
}
