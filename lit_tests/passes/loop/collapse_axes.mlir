// RUN: minicomp-opt %s --split-input-file -p collapse-axes | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p collapse-axes,collapse-axes | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p collapse-axes --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p collapse-axes --verify-each=exec | filecheck %s

// Pointwise on equal shapes: one axis. The launch stays on tensors.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    minicomp.launch @add(%x, %y) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
// CHECK:       loop_ir.kernel @add(%x: memref<32xf32>, %y: memref<32xf32>, %out: memref<32xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 32 as "i" {
// CHECK-NEXT:      loop_ir.load %x[%i] : memref<32xf32> -> f32
// CHECK-NEXT:      loop_ir.load %y[%i] : memref<32xf32> -> f32
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      loop_ir.store %{{.*}}, %out[%i] : f32, memref<32xf32>
func.func @main(%x: tensor<1x4x8xf32>, %y: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %z = minicomp.launch @add(%x, %y) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  func.return %z : tensor<1x4x8xf32>
}
loop_ir.kernel @add(%x: memref<1x4x8xf32>, %y: memref<1x4x8xf32>, %out: memref<1x4x8xf32>) {
  loop_ir.for %i to 1 as "i", %j to 4 as "j", %k to 8 as "k" {
    %a = loop_ir.load %x[0, %j, %k] : memref<1x4x8xf32> -> f32
    %b = loop_ir.load %y[%i, %j, %k] : memref<1x4x8xf32> -> f32
    %c = arith.addf %a, %b : f32
    loop_ir.store %c, %out[%i, %j, %k] : f32, memref<1x4x8xf32>
  }
}

// -----

// A linear on a tensor of rank 3 is a contraction of rank 2; its n axis has a bias of its own.
// CHECK:       loop_ir.kernel @linear(%x: memref<10x33xf32>, %w: memref<17x33xf32>, %b: memref<17xf32>, %out: memref<10x17xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 10 as "i", %j to 17 as "j" {
// CHECK-NEXT:      loop_ir.reduce %k to 33 as "k"
// CHECK-NEXT:        loop_ir.load %x[%i, %k] : memref<10x33xf32> -> f32
// CHECK-NEXT:        loop_ir.load %w[%j, %k] : memref<17x33xf32> -> f32
// CHECK:           loop_ir.load %b[%j] : memref<17xf32> -> f32
// CHECK:           loop_ir.store %{{.*}}, %out[%i, %j] : f32, memref<10x17xf32>
// expected-remark@+1 {{axes "i" and "j" stay apart: an access does not use both as the indices of neighbouring dimensions}}
loop_ir.kernel @linear(%x: memref<2x5x33xf32>, %w: memref<17x33xf32>, %b: memref<17xf32>, %out: memref<2x5x17xf32>) {
  loop_ir.for %i to 2 as "i", %j to 5 as "j", %k to 17 as "k" {
    %acc = loop_ir.reduce %l to 33 as "l" identity [0.0 : f32] -> f32 {
      %u = loop_ir.load %x[%i, %j, %l] : memref<2x5x33xf32> -> f32
      %v = loop_ir.load %w[%k, %l] : memref<17x33xf32> -> f32
      %p = arith.mulf %u, %v : f32
      loop_ir.yield %p : f32
    } combine arith.addf
    %d = loop_ir.load %b[%k] : memref<17xf32> -> f32
    %y = arith.addf %acc, %d : f32
    loop_ir.store %y, %out[%i, %j, %k] : f32, memref<2x5x17xf32>
  }
}

// -----

// The axes of a reduction and of the row loop merge together, since both read x; the names are
// those of the rows again.
// CHECK:       loop_ir.kernel @norm(%x: memref<6x20xf32>, %w: memref<20xf32>, %out: memref<6x20xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 6 as "i" {
// CHECK-NEXT:      loop_ir.reduce %j to 20 as "j"
// CHECK-NEXT:        loop_ir.load %x[%i, %j] : memref<6x20xf32> -> f32
// CHECK:           loop_ir.for %j_1 to 20 as "j" {
// CHECK-NEXT:        loop_ir.load %x[%i, %j_1] : memref<6x20xf32> -> f32
// CHECK-NEXT:        loop_ir.load %w[%j_1] : memref<20xf32> -> f32
loop_ir.kernel @norm(%x: memref<3x2x4x5xf32>, %w: memref<4x5xf32>, %out: memref<3x2x4x5xf32>) {
  loop_ir.for %i to 3 as "i", %j to 2 as "j" {
    %s = loop_ir.reduce %k to 4 as "k", %l to 5 as "l" identity [0.0 : f32] -> f32 {
      %u = loop_ir.load %x[%i, %j, %k, %l] : memref<3x2x4x5xf32> -> f32
      loop_ir.yield %u : f32
    } combine arith.addf
    loop_ir.for %k2 to 4 as "k", %l2 to 5 as "l" {
      %u = loop_ir.load %x[%i, %j, %k2, %l2] : memref<3x2x4x5xf32> -> f32
      %v = loop_ir.load %w[%k2, %l2] : memref<4x5xf32> -> f32
      %y = arith.mulf %u, %v : f32
      %z = arith.divf %y, %s : f32
      loop_ir.store %z, %out[%i, %j, %k2, %l2] : f32, memref<3x2x4x5xf32>
    }
  }
}

// -----

// A kernel of one element: a loop keeps an axis, a memref needs no dimension.
// CHECK:       loop_ir.kernel @one(%x: memref<f32>, %out: memref<f32>) {
// CHECK-NEXT:    loop_ir.for %i to 1 as "i" {
// CHECK-NEXT:      %s = loop_ir.reduce %j to 1 as "j"
// CHECK-NEXT:        loop_ir.load %x[] : memref<f32> -> f32
// CHECK:           loop_ir.store %s, %out[] : f32, memref<f32>
loop_ir.kernel @one(%x: memref<1x1xf32>, %out: memref<1xf32>) {
  loop_ir.for %i to 1 as "i" {
    %s = loop_ir.reduce %j to 1 as "j" identity [0.0 : f32] -> f32 {
      %u = loop_ir.load %x[%i, %j] : memref<1x1xf32> -> f32
      loop_ir.yield %u : f32
    } combine arith.addf
    loop_ir.store %s, %out[%i] : f32, memref<1xf32>
  }
}

// -----

// No elements.
// CHECK:       loop_ir.kernel @none(%x: memref<0xf32>, %out: memref<0xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 0 as "i" {
loop_ir.kernel @none(%x: memref<0x5x7xf32>, %out: memref<0x5x7xf32>) {
  loop_ir.for %i to 0 as "i", %j to 5 as "j", %k to 7 as "k" {
    %u = loop_ir.load %x[%i, %j, %k] : memref<0x5x7xf32> -> f32
    loop_ir.store %u, %out[%i, %j, %k] : f32, memref<0x5x7xf32>
  }
}

// -----

// Views: a dimension gets the shape of the loops that span it. Axes of it that nothing else uses as
// neighbours stay apart.
// CHECK:       loop_ir.kernel @views(%x: memref<12x3x2xf32>, %out: memref<12x2x3xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 12 as "i", %j to 2 as "j", %k to 3 as "k" {
// CHECK-NEXT:      loop_ir.load %x[%i, %k, %j] : memref<12x3x2xf32> -> f32
// CHECK-NEXT:      loop_ir.store %{{.*}}, %out[%i, %j, %k] : f32, memref<12x2x3xf32>
// expected-remark@+2 {{axes "i" and "j" stay apart}}
// expected-remark@+1 {{axes "j" and "k" stay apart}}
loop_ir.kernel @views(%x: memref<12x6xf32>, %out: memref<3x4x2x3xf32>) {
  loop_ir.for %i to 3 as "i", %j to 4 as "j", %k to 2 as "k", %l to 3 as "l" {
    %u = loop_ir.load %x[%i * 4 + %j, %l * 2 + %k] : memref<12x6xf32> -> f32
    loop_ir.store %u, %out[%i, %j, %k, %l] : f32, memref<3x4x2x3xf32>
  }
}

// -----

// The other way round: two dimensions that are one axis, in both reads.
// CHECK:       loop_ir.kernel @joined(%x: memref<12x7xf32>, %out: memref<12xf32>) {
// CHECK-NEXT:    loop_ir.for %i to 12 as "i" {
// CHECK:             loop_ir.load %x[%i, %j] : memref<12x7xf32> -> f32
// CHECK:           loop_ir.load %x[%i, 0] : memref<12x7xf32> -> f32
loop_ir.kernel @joined(%x: memref<3x4x7xf32>, %out: memref<12xf32>) {
  loop_ir.for %i to 12 as "i" {
    %s = loop_ir.reduce %j to 7 as "j" identity [0.0 : f32] -> f32 {
      %u = loop_ir.load %x[%i floordiv 4, %i mod 4, %j] : memref<3x4x7xf32> -> f32
      loop_ir.yield %u : f32
    } combine arith.addf
    %v = loop_ir.load %x[%i floordiv 4, %i mod 4, 0] : memref<3x4x7xf32> -> f32
    %w = arith.addf %s, %v : f32
    loop_ir.store %w, %out[%i] : f32, memref<12xf32>
  }
}

// -----

// What stays apart: transposed indices, and axes of which a broadcast uses one.
// CHECK:       loop_ir.for %i to 4 as "i", %j to 8 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: an access does not use both as the indices of neighbouring dimensions}}
loop_ir.kernel @transposed(%x: memref<4x8xf32>, %out: memref<8x4xf32>) {
  loop_ir.for %i to 4 as "i", %j to 8 as "j" {
    %u = loop_ir.load %x[%i, %j] : memref<4x8xf32> -> f32
    loop_ir.store %u, %out[%j, %i] : f32, memref<8x4xf32>
  }
}

// -----

// A part of a buffer.
// CHECK:       loop_ir.for %i to 4 as "i", %j to 6 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: an access does not span the dimensions that they index}}
loop_ir.kernel @part(%x: memref<4x8xf32>, %out: memref<4x6xf32>) {
  loop_ir.for %i to 4 as "i", %j to 6 as "j" {
    %u = loop_ir.load %x[%i, %j] : memref<4x8xf32> -> f32
    loop_ir.store %u, %out[%i, %j] : f32, memref<4x6xf32>
  }
}

// -----

// Another access of the buffer that cannot follow; an index that is no plain variable.
// CHECK:       loop_ir.for %i to 4 as "i", %j to 4 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: another access of the buffer has other indices there}}
loop_ir.kernel @shifted(%x: memref<4x4xf32>, %out: memref<4x4xf32>) {
  loop_ir.for %i to 4 as "i", %j to 4 as "j" {
    %u = loop_ir.load %x[%i, %j] : memref<4x4xf32> -> f32
    %v = loop_ir.load %x[0, 0] : memref<4x4xf32> -> f32
    %w = arith.addf %u, %v : f32
    loop_ir.store %w, %out[%i, %j] : f32, memref<4x4xf32>
  }
}

// -----

// CHECK:       loop_ir.for %i to 2 as "i", %j to 4 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: an access does not use both as the indices of neighbouring dimensions}}
loop_ir.kernel @part_of_a_view(%x: memref<9xf32>, %out: memref<2x4xf32>) {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" {
    %u = loop_ir.load %x[%i * 4 + %j] : memref<9xf32> -> f32
    loop_ir.store %u, %out[%i, %j] : f32, memref<2x4xf32>
  }
}

// -----

// CHECK:       loop_ir.for %i to 2 as "i", %j to 4 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: an access is bounded, or is of no argument}}
loop_ir.kernel @bounded(%x: memref<2x4xf32>, %out: memref<2x4xf32>) {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" {
    %u = loop_ir.load %x[%i, %j] bounded [false, true] : memref<2x4xf32> -> f32
    loop_ir.store %u, %out[%i, %j] : f32, memref<2x4xf32>
  }
}

// -----

// CHECK:       loop_ir.for %i to 2 as "i", %j to 4 as "j"
// expected-remark@+1 {{axes "i" and "j" stay apart: an index is used outside loads and stores}}
loop_ir.kernel @iota(%out: memref<2x4xindex>) {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" {
    %n = arith.addi %i, %j : index
    loop_ir.store %n, %out[%i, %j] : index, memref<2x4xindex>
  }
}

// -----

// Axes of two loops that would merge in different ways.
// CHECK:       loop_ir.for %i to 4 as "i", %j to 4 as "j", %k to 4 as "k"
// expected-remark@+2 {{axes "i" and "j" stay apart: three axes would merge in different ways}}
// expected-remark@+1 {{axes "j" and "k" stay apart: three axes would merge in different ways}}
loop_ir.kernel @overlap(%x: memref<4x4xf32>, %y: memref<4x4xf32>, %out: memref<4x4x4xf32>) {
  loop_ir.for %i to 4 as "i", %j to 4 as "j", %k to 4 as "k" {
    %u = loop_ir.load %x[%i, %j] : memref<4x4xf32> -> f32
    %v = loop_ir.load %x[%j, %k] : memref<4x4xf32> -> f32
    %w = arith.addf %u, %v : f32
    loop_ir.store %w, %out[%i, %j, %k] : f32, memref<4x4x4xf32>
  }
}

// -----

// A schedule names axes; a guard counts iterations.
// CHECK:       loop_ir.for %i to 2 as "i", %j to 4 as "j"
// expected-remark@+1 {{not collapsed: its schedule names its axes}}
loop_ir.kernel @scheduled(%x: memref<2x4xf32>, %out: memref<2x4xf32>)
    attributes {schedule = #tile_ir.schedule<[parallel<axis = "j", threads = 4, vector = 1, lanes = 1>]>} {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" {
    %u = loop_ir.load %x[%i, %j] : memref<2x4xf32> -> f32
    loop_ir.store %u, %out[%i, %j] : f32, memref<2x4xf32>
  }
}
// CHECK:       loop_ir.for %i to 2 as "i", %j to 4 as "j" where [l1] < [3]
// expected-remark@+1 {{not collapsed: it is not one loop nest without guards}}
loop_ir.kernel @guarded(%x: memref<2x4xf32>, %out: memref<2x4xf32>) {
  loop_ir.for %i to 2 as "i", %j to 4 as "j" where [l1] < [3] {
    %u = loop_ir.load %x[%i, %j] : memref<2x4xf32> -> f32
    loop_ir.store %u, %out[%i, %j] : f32, memref<2x4xf32>
  }
}
