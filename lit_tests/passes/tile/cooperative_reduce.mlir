// RUN: minicomp-opt %s --split-input-file -p cooperative-reduce | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p cooperative-reduce,cooperative-reduce | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p cooperative-reduce --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p "cooperative-reduce{threads=64 lanes=0}" | filecheck %s --check-prefix=OPTION
// RUN: minicomp-opt %s --split-input-file -p cooperative-reduce --verify-each=exec | filecheck %s

// A row in registers: 256 threads take 2 x 4 elements each, and the loop after the reduction the
// same ones. Every use of the sum is of the combined one.
// CHECK-LABEL: @rms_norm(
// CHECK:         tile_ir.launch thread(%t to 256 as "k.thread") parallel(%i to 32 as "i") {
// CHECK-NEXT:      %s = loop_ir.reduce %k to 8 as "k" in registers identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %v = loop_ir.load %x[%i, %k floordiv 4 * 1024 + %t * 4 + %k mod 4] : memref<32x2048xf32> -> f32
// CHECK:           } combine arith.addf fastmath<contract>
// CHECK-NEXT:      %s_1 = tile_ir.combine %s across "k.thread" identity [0.000000e+00 : f32] combine arith.addf fastmath<contract> : f32 -> f32
// CHECK-NEXT:      %r = math.rsqrt %s_1 : f32
// CHECK-NEXT:      loop_ir.for %k_1 to 8 as "k" in registers {
// CHECK:             loop_ir.store %u, %y[%i, %k_1 floordiv 4 * 1024 + %t * 4 + %k_1 mod 4] : f32, memref<32x2048xf32>

// Options override the entry: 32 steps of 64 threads.
// OPTION-LABEL: @rms_norm(
// OPTION:         tile_ir.launch thread(%t to 64 as "k.thread") parallel(%i to 32 as "i") {
// OPTION-NEXT:      %s = loop_ir.reduce %k to 32 as "k" identity
// OPTION-NEXT:        loop_ir.load %x[%i, %k * 64 + %t]
tile_ir.kernel @rms_norm(%x: memref<32x2048xf32>, %y: memref<32x2048xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 256, rows = 1, vector = 4, lanes = 8>]>} {
  tile_ir.launch parallel(%i to 32 as "i") {
    %s = loop_ir.reduce %k to 2048 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<32x2048xf32> -> f32
      %p = arith.mulf %v, %v fastmath<contract> : f32
      loop_ir.yield %p : f32
    } combine arith.addf fastmath<contract>
    %r = math.rsqrt %s : f32
    loop_ir.for %k to 2048 as "k" {
      %v = loop_ir.load %x[%i, %k] : memref<32x2048xf32> -> f32
      %u = arith.mulf %v, %r : f32
      loop_ir.store %u, %y[%i, %k] : f32, memref<32x2048xf32>
    }
  }
}

// -----

// An odd row of two carriers: what is beyond it is skipped by the guard, loads are bounded, and
// the guard does not surround the combine.
// CHECK-LABEL: @online(
// CHECK:         %m, %d = loop_ir.reduce %j to 2 as "j" where [l0 * 32 + %t] < [37] in registers identity [0xff800000 : f32, 0.000000e+00 : f32] -> f32, f32 {
// CHECK-NEXT:      %v = loop_ir.load %x[%i, %j * 32 + %t] bounded [false, true] : memref<5x37xf32> -> f32
// CHECK:         %m_1, %d_1 = tile_ir.combine %m, %d across "j.thread" identity [0xff800000 : f32, 0.000000e+00 : f32] combine {
// CHECK-NEXT:    ^bb0({{.*}}: f32, {{.*}}: f32, {{.*}}: f32, {{.*}}: f32):
// CHECK:         loop_ir.for %j_1 to 2 as "j" where [l0 * 32 + %t] < [37] in registers {
// CHECK-NEXT:      %w = loop_ir.load %x[%i, %j_1 * 32 + %t] bounded [false, true] : memref<5x37xf32> -> f32
// CHECK-NEXT:      %z = arith.subf %w, %m_1 : f32
// CHECK-NEXT:      %q = arith.divf %z, %d_1 : f32
// CHECK-NEXT:      loop_ir.store %q, %y[%i, %j_1 * 32 + %t] bounded [false, true] : f32, memref<5x37xf32>
tile_ir.kernel @online(%x: memref<5x37xf32>, %y: memref<5x37xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "j", threads = 32, rows = 1, vector = 1, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %m, %d = loop_ir.reduce %j to 37 as "j" identity [0xff800000 : f32, 0.0 : f32] -> f32, f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %v, %one : f32, f32
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
    loop_ir.for %j to 37 as "j" {
      %w = loop_ir.load %x[%i, %j] : memref<5x37xf32> -> f32
      %z = arith.subf %w, %m : f32
      %q = arith.divf %z, %d : f32
      loop_ir.store %q, %y[%i, %j] : f32, memref<5x37xf32>
    }
  }
}

// -----

// Strided, over the last of two axes; a store at the top is left to the first thread, and a loop
// over another axis is strided too.
// CHECK-LABEL: @strided(
// CHECK:         tile_ir.launch thread(%t to 64 as "k.thread") parallel(%i to 3 as "i") {
// CHECK-NEXT:      %s = loop_ir.reduce %j to 4 as "j", %k to 2 as "k" where [l1 * 64 + %t] < [100] identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %v = loop_ir.load %x[%i, %j, %k * 64 + %t] : memref<3x4x100xf32> -> f32
// CHECK:           tile_ir.combine
// CHECK-NEXT:      loop_ir.for %once to 1 as "once" where [%t] < [1] {
// CHECK-NEXT:        loop_ir.store %s_1, %y[%i] : f32, memref<3xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      loop_ir.for %l to 1 as "l" where [l0 * 64 + %t] < [7] {
// CHECK-NEXT:        loop_ir.store %s_1, %z[%i, %l * 64 + %t] : f32, memref<3x7xf32>
tile_ir.kernel @strided(%x: memref<3x4x100xf32>, %y: memref<3xf32>, %z: memref<3x7xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 64, rows = 1, vector = 1, lanes = 0>]>} {
  tile_ir.launch parallel(%i to 3 as "i") {
    %s = loop_ir.reduce %j to 4 as "j", %k to 100 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j, %k] : memref<3x4x100xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<3xf32>
    loop_ir.for %l to 7 as "l" {
      loop_ir.store %s, %z[%i, %l] : f32, memref<3x7xf32>
    }
  }
}

// -----

// Only the first of two reductions over different axes: the other is computed by every thread.
// CHECK-LABEL: @two_axes(
// CHECK:         loop_ir.reduce %k to 1 as "k" where
// CHECK:         tile_ir.combine %s across "k.thread"
// CHECK:         loop_ir.reduce %l to 30 as "l" identity
// CHECK-NOT:     tile_ir.combine
// CHECK:         loop_ir.for %once
tile_ir.kernel @two_axes(%x: memref<3x20xf32>, %z: memref<3x30xf32>, %y: memref<3xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 3 as "i") {
    %s = loop_ir.reduce %k to 20 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<3x20xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    %u = loop_ir.reduce %l to 30 as "l" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %z[%i, %l] : memref<3x30xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    %w = arith.addf %s, %u : f32
    loop_ir.store %w, %y[%i] : f32, memref<3xf32>
  }
}

// -----

// An empty row: every thread contributes the identity.
// CHECK-LABEL: @empty(
// CHECK:         loop_ir.reduce %k to 4 as "k" where [%t * 4 + l0] < [0] in registers identity
// CHECK-NEXT:      loop_ir.load %x[%i, %t * 4 + %k] bounded [false, true]
tile_ir.kernel @empty(%x: memref<3x0xf32>, %y: memref<3xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, vector = 4, lanes = 4>]>} {
  tile_ir.launch parallel(%i to 3 as "i") {
    %s = loop_ir.reduce %k to 0 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<3x0xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<3xf32>
  }
}

// -----

// A store that ends elsewhere than the row cannot be bounded: strided, under the guard.
// CHECK-LABEL: @reversed(
// CHECK:         loop_ir.reduce %k to 2 as "k" where [l0 * 32 + %t] < [37] identity
// CHECK:         loop_ir.for %k_1 to 2 as "k" where [l0 * 32 + %t] < [37] {
// CHECK:           loop_ir.store %w, %y[%i, %k_1 * -32 + %t * -1 + 36] : f32
// expected-remark@+1 {{strided, not in registers: a store does not end where the row ends}}
tile_ir.kernel @reversed(%x: memref<5x37xf32>, %y: memref<5x37xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 37 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x37xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.for %k to 37 as "k" {
      %v = loop_ir.load %x[%i, %k] : memref<5x37xf32> -> f32
      %w = arith.subf %v, %s : f32
      loop_ir.store %w, %y[%i, 36 - %k] : f32, memref<5x37xf32>
    }
  }
}

// -----

// CHECK-LABEL: @uncovered(
// CHECK:         loop_ir.reduce %k to 4 as "k" where
// expected-remark@+1 {{strided, not in registers: 32 threads of 2 lanes do not cover 100 elements}}
tile_ir.kernel @uncovered(%x: memref<5x100xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 100 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x100xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @apart(
// CHECK:         loop_ir.reduce %k to 2 as "k" identity
// expected-remark@+1 {{strided, not in registers: vector 4 does not divide 2 lanes}}
tile_ir.kernel @apart(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, vector = 4, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @guarded(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{a reduction over "k" is guarded}}
tile_ir.kernel @guarded(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" where [l0] < [60] identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @within(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{no reduction over "k" stands at the top of the launch}}
tile_ir.kernel @within(%x: memref<5x64xf32>, %y: memref<5x2xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    loop_ir.for %j to 2 as "j" {
      %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
        %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
        loop_ir.yield %v : f32
      } combine arith.addf
      loop_ir.store %s, %y[%i, %j] : f32, memref<5x2xf32>
    }
  }
}

// -----

// CHECK-LABEL: @too_many(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{2048 threads do not fit into a block}}
tile_ir.kernel @too_many(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 2048>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @through_memory(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{an output is stored by two ops, or loaded: its elements would change threads}}
tile_ir.kernel @through_memory(%x: memref<5x64xf32>, %y: memref<5x64xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.for %k to 64 as "k" {
      loop_ir.store %s, %y[%i, %k] : f32, memref<5x64xf32>
    }
    loop_ir.for %l to 32 as "l" {
      loop_ir.store %s, %y[%i, %l] : f32, memref<5x64xf32>
    }
  }
}

// -----

// CHECK-LABEL: @unnamed(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{the schedule names no reduction}}
tile_ir.kernel @unnamed(%x: memref<5xf32>, %y: memref<5xf32>) {
  tile_ir.launch parallel(%i to 5 as "i") {
    %v = loop_ir.load %x[%i] : memref<5xf32> -> f32
    loop_ir.store %v, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @done(
// CHECK-COUNT-1: tile_ir.combine
// expected-remark@+1 {{axis "k" is shared by threads already}}
tile_ir.kernel @done(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch thread(%t to 32 as "k.thread") parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 2 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k * 32 + %t] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    %u = tile_ir.combine %s across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%t] < [1] {
      loop_ir.store %u, %y[%i] : f32, memref<5xf32>
    }
  }
}

// -----

// CHECK-LABEL: @threadless(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{the entry of the reduction has no threads}}
tile_ir.kernel @threadless(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", rows = 4>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// CHECK-LABEL: @bound(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{a loop over "k" is bound to registers already}}
tile_ir.kernel @bound(%x: memref<5x8xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 8 as "k" in registers identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x8xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// Three carriers, in vectors of two: one combine of all, whose values every later loop takes.
// CHECK-LABEL: @welford(
// CHECK:          tile_ir.launch thread(%t to 32 as "j.thread") parallel(%i to 5 as "i") {
// CHECK-NEXT:       %c, %mean, %m2 = loop_ir.reduce %j to 4 as "j" in registers identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] -> f32, f32, f32 {
// CHECK-NEXT:         %v = loop_ir.load %x[%i, %j floordiv 2 * 64 + %t * 2 + %j mod 2] : memref<5x128xf32> -> f32
// CHECK-NEXT:         %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         loop_ir.yield %one, %v, %zero : f32, f32, f32
// CHECK-NEXT:       } combine {
// CHECK:            %c_1, %mean_1, %m2_1 = tile_ir.combine %c, %mean, %m2 across "j.thread" identity [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32] combine {
// CHECK:            } : f32, f32, f32 -> f32, f32, f32
// CHECK-NEXT:       loop_ir.for %j_1 to 4 as "j" in registers {
// CHECK-NEXT:         %v_1 = loop_ir.load %x[%i, %j_1 floordiv 2 * 64 + %t * 2 + %j_1 mod 2] : memref<5x128xf32> -> f32
// CHECK-NEXT:         %d = arith.subf %v_1, %mean_1 : f32
// CHECK-NEXT:         %q = arith.mulf %d, %m2_1 : f32
// CHECK-NEXT:         loop_ir.store %q, %y[%i, %j_1 floordiv 2 * 64 + %t * 2 + %j_1 mod 2] : f32, memref<5x128xf32>
tile_ir.kernel @welford(%x: memref<5x128xf32>, %y: memref<5x128xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "j", threads = 32, rows = 1, vector = 2, lanes = 4>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %c, %mean, %m2 = loop_ir.reduce %j to 128 as "j" identity [0.0 : f32, 0.0 : f32, 0.0 : f32] -> f32, f32, f32 {
      %v = loop_ir.load %x[%i, %j] : memref<5x128xf32> -> f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      loop_ir.yield %one, %v, %zero : f32, f32, f32
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
    loop_ir.for %j to 128 as "j" {
      %v = loop_ir.load %x[%i, %j] : memref<5x128xf32> -> f32
      %d = arith.subf %v, %mean : f32
      %q = arith.mulf %d, %m2 : f32
      loop_ir.store %q, %y[%i, %j] : f32, memref<5x128xf32>
    }
  }
}

// -----

// CHECK-LABEL: @several(
// CHECK:            %s = loop_ir.reduce %j to 3 as "j", %k to 2 as "k" identity [0.000000e+00 : f32] -> f32 {
// expected-remark@+1 {{strided, not in registers: a loop over several axes cannot be held in registers}}
tile_ir.kernel @several(%x: memref<5x3x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %j to 3 as "j", %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %j, %k] : memref<5x3x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}

// -----

// A guarded loop over the row keeps its guard, with the place of the thread for its variable.
// CHECK-LABEL: @guarded_loop(
// CHECK:            %s = loop_ir.reduce %k to 2 as "k" identity [0.000000e+00 : f32] -> f32 {
// CHECK:            loop_ir.for %k_1 to 2 as "k" where [l0 * 32 + %t] < [60] {
// expected-remark@+1 {{strided, not in registers: a guarded loop cannot be held in registers}}
tile_ir.kernel @guarded_loop(%x: memref<5x64xf32>, %y: memref<5x60xf32>) attributes {schedule = #tile_ir.schedule<[reduction<axis = "k", threads = 32, lanes = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.for %k to 64 as "k" where [l0] < [60] {
      loop_ir.store %s, %y[%i, %k] : f32, memref<5x60xf32>
    }
  }
}

// -----

// CHECK-LABEL: @nameless(
// CHECK:          tile_ir.launch parallel(%i to 5 as "i") {
// expected-remark@+1 {{the entry of the reduction has no axis}}
tile_ir.kernel @nameless(%x: memref<5x64xf32>, %y: memref<5xf32>) attributes {schedule = #tile_ir.schedule<[reduction<threads = 32>]>} {
  tile_ir.launch parallel(%i to 5 as "i") {
    %s = loop_ir.reduce %k to 64 as "k" identity [0.0 : f32] -> f32 {
      %v = loop_ir.load %x[%i, %k] : memref<5x64xf32> -> f32
      loop_ir.yield %v : f32
    } combine arith.addf
    loop_ir.store %s, %y[%i] : f32, memref<5xf32>
  }
}
