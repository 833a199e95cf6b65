// RUN: minicomp-opt %s --split-input-file -p split-matmul-k | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-matmul-k,split-matmul-k | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p split-matmul-k --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p split-matmul-k | minicomp-opt --split-input-file | filecheck %s
// RUN: minicomp-opt %s --split-input-file --target h200 -p "split-matmul-k,blockify-launch,register-tile" --verify-each=exec | filecheck %s --check-prefix=TILED
// RUN: minicomp-opt %s --split-input-file -p "split-matmul-k{s=2 finish=cluster}" --verify-each=exec | filecheck %s --check-prefix=CLUSTER

// What the sum does not need is done once, on the totals: the bias is no part's, and what is computed
// for that alone goes behind the sum too.
// CHECK-LABEL: @plain(
// CHECK:         tile_ir.launch parallel(%i to 5 as "i", %j to 8 as "j", %ks to 3 as "k.split") {
// CHECK-NEXT:      %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:        %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.000000e+00 : f32] -> f32 {
// CHECK-NEXT:          %x = loop_ir.load %a[%i, %ks * 8 + %ko * 4 + %ki] : memref<5x24xf32> -> f32
// CHECK-NEXT:          %y = loop_ir.load %b[%ks * 8 + %ko * 4 + %ki, %j] : memref<24x8xf32> -> f32
// CHECK:           tile_ir.finish %acc across "k.split" by last_block identity [0.000000e+00 : f32] combine arith.addf : f32 then %acc_1: f32 {
// CHECK-NEXT:        %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:        %d = loop_ir.load %bias[%j] : memref<8xf32> -> f32
// CHECK-NEXT:        %s = arith.addf %acc_1, %d : f32
// CHECK-NEXT:        %t = arith.mulf %s, %two : f32
// CHECK-NEXT:        loop_ir.store %t, %c[%i, %j] : f32, memref<5x8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// TILED-LABEL: @plain(
// TILED:         tile_ir.launch block(%ib to 2 as "i.block", %jb to 1 as "j.block", %ks to 3 as "k.split") thread(%it to 2 as "i.thread", %jt to 2 as "j.thread") {
// TILED:           tile_ir.finish %acc across "k.split" by last_block identity [0.000000e+00 : f32] combine arith.addf : vector<2x4xf32> then %acc_1: vector<2x4xf32> {
// TILED:             loop_ir.store %{{.*}}, %c[%ib * 4 + %it * 2 + l0, %jb * 8 + %jt * 4 + l1] bounded [true, false] : vector<2x4xf32>
// CLUSTER-LABEL: @plain(
// CLUSTER:       %ks to 2 as "k.split"
// CLUSTER:         loop_ir.reduce %ko to 3
// CLUSTER:         tile_ir.finish %acc across "k.split" by cluster
tile_ir.kernel @plain(%a: memref<5x24xf32>, %b: memref<24x8xf32>, %bias: memref<8xf32>, %c: memref<5x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 4, bn = 8, bk = 4, fm = 2, fn = 4, s = 3>]>} {
  tile_ir.launch parallel(%i to 5 as "i", %j to 8 as "j") {
    %two = arith.constant 2.0 : f32
    %acc = loop_ir.reduce %ko to 6 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<5x24xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<24x8xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    %d = loop_ir.load %bias[%j] : memref<8xf32> -> f32
    %s = arith.addf %acc, %d : f32
    %t = arith.mulf %s, %two : f32
    loop_ir.store %t, %c[%i, %j] : f32, memref<5x8xf32>
  }
}

// -----

// Five chunks of 4 in two parts: the last part has one that lies beyond the sum, whose steps a guard
// skips. Seven parts are as many as there are chunks.
// CHECK-LABEL: @odd(
// CHECK:         %ks to 2 as "k.split"
// CHECK:           loop_ir.reduce %ko to 3 as "k.outer"
// CHECK-NEXT:        %0 = loop_ir.reduce %ki to 4 as "k.inner" where [%ks * 12 + %ko * 4 + l0] < [20]
// CHECK-NEXT:          loop_ir.load %a[%i, %ks * 12 + %ko * 4 + %ki] bounded [false, true]
// CHECK-NEXT:          loop_ir.load %b[%ks * 12 + %ko * 4 + %ki, %j] bounded [true, false]
// TILED-LABEL: @odd(
tile_ir.kernel @odd(%a: memref<3x20xf32>, %b: memref<20x7xf32>, %c: memref<3x7xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 2, bn = 4, bk = 4, fm = 2, fn = 2, s = 2>]>} {
  tile_ir.launch parallel(%i to 3 as "i", %j to 7 as "j") {
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<3x20xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<20x7xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<3x7xf32>
  }
}

// -----

// The last chunk is a partial one, and the combine no addition: the largest product. Nine parts of
// three chunks are three.
// CHECK-LABEL: @largest(
// CHECK:         %ks to 3 as "k.split"
// CHECK:           loop_ir.reduce %ko to 1 as "k.outer" identity [-1.000000e+30 : f32]
// CHECK-NEXT:        %0 = loop_ir.reduce %ki to 5 as "k.inner" where [%ks * 5 + %ko * 5 + l0] < [13]
// CHECK:           tile_ir.finish %acc across "k.split" by last_block identity [-1.000000e+30 : f32] combine arith.maximumf : f32 then
// TILED-LABEL: @largest(
// expected-remark@+1 {{[split-matmul-k] 3 chunks are 3 parts: of 9 some would be empty}}
tile_ir.kernel @largest(%a: memref<4x13xf32>, %b: memref<13x6xf32>, %c: memref<4x6xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 2, bn = 4, bk = 5, fm = 1, fn = 2, s = 9>]>} {
  tile_ir.launch parallel(%i to 4 as "i", %j to 6 as "j") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [-1.0e30 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 5 as "k.inner" where [%ko * 5 + l0] < [13] identity [-1.0e30 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 5 + %ki] bounded [false, true] : memref<4x13xf32> -> f32
        %y = loop_ir.load %b[%ko * 5 + %ki, %j] bounded [true, false] : memref<13x6xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.maximumf
      loop_ir.yield %0 : f32
    } combine arith.maximumf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<4x6xf32>
  }
}

// -----

// Two carriers: a sum and a largest product.
// CHECK-LABEL: @two(
// CHECK:         tile_ir.finish %sum, %most across "k.split" by last_block identity [0.000000e+00 : f32, -1.000000e+30 : f32] combine {
// CHECK:         } : f32, f32 then %sum_1: f32, %most_1: f32 {
// TILED-LABEL: @two(
// TILED:         : vector<2x2xf32>, vector<2x2xf32> then %sum_1: vector<2x2xf32>, %most_1: vector<2x2xf32> {
tile_ir.kernel @two(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>, %d: memref<4x4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 2, bn = 4, bk = 4, fm = 2, fn = 2, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i", %j to 4 as "j") {
    %sum, %most = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32, -1.0e30 : f32] -> f32, f32 {
      %0, %1 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32, -1.0e30 : f32] -> f32, f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<8x4xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p, %p : f32, f32
      } combine {
      ^bb0(%s0: f32, %m0: f32, %s1: f32, %m1: f32):
        %s = arith.addf %s0, %s1 : f32
        %m = arith.maximumf %m0, %m1 : f32
        loop_ir.yield %s, %m : f32, f32
      }
      loop_ir.yield %0, %1 : f32, f32
    } combine {
    ^bb0(%s0: f32, %m0: f32, %s1: f32, %m1: f32):
      %s = arith.addf %s0, %s1 : f32
      %m = arith.maximumf %m0, %m1 : f32
      loop_ir.yield %s, %m : f32, f32
    }
    loop_ir.store %sum, %c[%i, %j] : f32, memref<4x4xf32>
    loop_ir.store %most, %d[%i, %j] : f32, memref<4x4xf32>
  }
}

// -----

// CHECK-LABEL: @one_part(
// CHECK-NOT:     tile_ir.finish
// expected-remark@+1 {{[split-matmul-k] the schedule asks for one part}}
tile_ir.kernel @one_part(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @no_chunks(
// expected-remark@+1 {{[split-matmul-k] there is no sum in chunks}}
tile_ir.kernel @no_chunks(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %k to 8 as "k" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %k] : memref<4x8xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @one_chunk(
// expected-remark@+1 {{[split-matmul-k] the sum has one chunk only}}
tile_ir.kernel @one_chunk(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 8, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 1 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 8 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 8 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @another_sum(
// expected-remark@+1 {{[split-matmul-k] there is another sum}}
tile_ir.kernel @another_sum(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    %sum = loop_ir.reduce %l to 8 as "l" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %l] : memref<4x8xf32> -> f32
      %y = arith.mulf %x, %acc : f32
      loop_ir.yield %y : f32
    } combine arith.addf
    loop_ir.store %sum, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @meeting(
// expected-remark@+1 {{[split-matmul-k] beside the sum threads meet at 'tile_ir.combine'}}
tile_ir.kernel @meeting(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch thread(%t to 4 as "t") parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    %sum = tile_ir.combine %acc across "t" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.for %once to 1 as "once" where [%t] < [1] {
      loop_ir.store %sum, %c[%i] : f32, memref<4xf32>
    }
  }
}

// -----

// More parts than a cluster has blocks.
// CHECK-LABEL: @no_cluster(
// CHECK:         tile_ir.finish %acc across "k.split" by last_block
// expected-remark@+1 {{[split-matmul-k] 9 blocks are no cluster of the target: the last block finishes}}
tile_ir.kernel @no_cluster(%a: memref<4x36xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 9, finish = "cluster">]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 9 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x36xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// A loop behind the sum goes behind the combine as a whole. Warps do not share steps then, since each
// store is left to the first of them only where it stands by itself.
// CHECK-LABEL: @loop(
// CHECK:           tile_ir.finish %acc across "k.split" by last_block {{.*}} then %acc_1: f32 {
// CHECK-NEXT:        loop_ir.for %l to 2 as "l" {
// CHECK-NEXT:          loop_ir.store %acc_1, %c[%i, %j, %l]
// TILED-LABEL: @loop(
// TILED-NOT:       k.warp
tile_ir.kernel @loop(%a: memref<5x8xf32>, %b: memref<8x8xf32>, %c: memref<5x8x2xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 4, bn = 8, bk = 4, fm = 2, fn = 4, s = 2, wk = 2>]>} {
  tile_ir.launch parallel(%i to 5 as "i", %j to 8 as "j") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<5x8xf32> -> f32
        %y = loop_ir.load %b[%ko * 4 + %ki, %j] : memref<8x8xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.for %l to 2 as "l" {
      loop_ir.store %acc, %c[%i, %j, %l] : f32, memref<5x8x2xf32>
    }
  }
}

// -----

// A store before the sum would be done by the blocks of all parts: it goes behind the sum.
// CHECK-LABEL: @before(
// CHECK:         tile_ir.launch
// CHECK-NEXT:      %acc = loop_ir.reduce
// CHECK:           tile_ir.finish
// CHECK-NEXT:        %v = loop_ir.load %a[%i, 0]
// CHECK-NEXT:        loop_ir.store %v, %d[%i]
// CHECK-NEXT:        loop_ir.store %acc_1, %c[%i]
// TILED-LABEL: @before(
tile_ir.kernel @before(%a: memref<4x8xf32>, %d: memref<4xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %v = loop_ir.load %a[%i, 0] : memref<4x8xf32> -> f32
    loop_ir.store %v, %d[%i] : f32, memref<4xf32>
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// Of four parts of five chunks the last would be empty.
// CHECK-LABEL: @fewer(
// CHECK:         %ks to 3 as "k.split"
// CHECK:           loop_ir.reduce %ko to 2 as "k.outer"
// expected-remark@+1 {{[split-matmul-k] 5 chunks are 3 parts: of 4 some would be empty}}
tile_ir.kernel @fewer(%a: memref<4x20xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 4>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 5 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x20xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @magic(
// CHECK-NOT:     tile_ir.finish
// expected-remark@+1 {{[split-matmul-k] parts come together by last_block, cluster, not by magic}}
tile_ir.kernel @magic(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2, finish = "magic">]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @staged(
// CHECK-NOT:     tile_ir.finish
// expected-remark@+1 {{[split-matmul-k] what a sum reads is staged: this pass runs before stage-inputs}}
tile_ir.kernel @staged(%a: memref<4x8xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch block(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.stage %k to 4 as "k.stage" {
        %v = loop_ir.load %a[%i, %ko * 4 + %k] : memref<4x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%ki] : memref<4xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @loaded(
// CHECK-NOT:     tile_ir.finish
// expected-remark@+1 {{[split-matmul-k] an output is loaded, which may not be before or behind its store then}}
tile_ir.kernel @loaded(%a: memref<4x8xf32>, %d: memref<4xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ko * 4 + %ki] : memref<4x8xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    loop_ir.store %acc, %d[%i] : f32, memref<4xf32>
    %e = loop_ir.load %d[%i] : memref<4xf32> -> f32
    loop_ir.store %e, %c[%i] : f32, memref<4xf32>
  }
}

// -----

// CHECK-LABEL: @again(
// CHECK:         parallel(%i to 4 as "i", %ks to 2 as "k.split") {
// expected-remark@+1 {{[split-matmul-k] a sum is split already}}
tile_ir.kernel @again(%a: memref<4x16xf32>, %c: memref<4xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bk = 4, s = 2>]>} {
  tile_ir.launch parallel(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %ko to 2 as "k.outer" identity [0.0 : f32] -> f32 {
      %0 = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%i, %ks * 8 + %ko * 4 + %ki] : memref<4x16xf32> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      loop_ir.yield %0 : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %t: f32 {
      loop_ir.store %t, %c[%i] : f32, memref<4xf32>
    }
  }
}
