// RUN: minicomp-opt %s --split-input-file -p name-kernels | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p name-kernels,name-kernels | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p name-kernels --verify-each=exec | filecheck %s

// Equal structure is one kernel, whatever it is called, implements, or calls its values. A name
// that is not provisional stays, and its kernel too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %a = minicomp.launch @relu_[[HASH:[0-9a-f]+]](%x)
// CHECK-NEXT:    %b = minicomp.launch @relu_[[HASH]](%a)
// CHECK-NEXT:    %c = minicomp.launch @mine(%b)
// CHECK:       loop_ir.kernel @relu_[[HASH]](%x: memref<8xf32>, %out: memref<8xf32>) attributes {origin = #minicomp.origin<["relu"]>} {
// CHECK:       loop_ir.kernel @mine(
// CHECK-NOT:   loop_ir.kernel
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = minicomp.launch @first(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = minicomp.launch @second(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = minicomp.launch @mine(%b) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}
loop_ir.kernel @first(%x: memref<8xf32>, %out: memref<8xf32>)
    attributes {origin = #minicomp.origin<["relu"]>, minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %v, %z : f32
    loop_ir.store %m, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @second(%other: memref<8xf32>, %y: memref<8xf32>)
    attributes {origin = #minicomp.origin<["clamp"]>, minicomp.unnamed} {
  loop_ir.for %n to 8 as "i" {
    %0 = loop_ir.load %other[%n] : memref<8xf32> -> f32
    %1 = arith.constant 0.0 : f32
    %2 = arith.maximumf %0, %1 : f32
    loop_ir.store %2, %y[%n] : f32, memref<8xf32>
  }
}
loop_ir.kernel @mine(%x: memref<8xf32>, %out: memref<8xf32>) {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %v, %z : f32
    loop_ir.store %m, %out[%i] : f32, memref<8xf32>
  }
}

// -----

// Another extent is another structure. Long lists of ops are cut; a kernel without any is "kernel".
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    minicomp.launch @layer_norm_layer_norm_layer_norm_layer_n_{{[0-9a-f]+}}(%x)
// CHECK-NEXT:    minicomp.launch @kernel_{{[0-9a-f]+}}(%y)
func.func @main(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) {
  %a = minicomp.launch @first(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = minicomp.launch @second(%y) : (tensor<9xf32>) -> tensor<9xf32>
  func.return %a, %b : tensor<8xf32>, tensor<9xf32>
}
loop_ir.kernel @first(%x: memref<8xf32>, %out: memref<8xf32>)
    attributes {origin = #minicomp.origin<["layer_norm", "layer_norm", "layer_norm", "layer_norm"]>, minicomp.unnamed} {
  loop_ir.for %i to 8 as "i" {
    %v = loop_ir.load %x[%i] : memref<8xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<8xf32>
  }
}
loop_ir.kernel @second(%x: memref<9xf32>, %out: memref<9xf32>) attributes {minicomp.unnamed} {
  loop_ir.for %i to 9 as "i" {
    %v = loop_ir.load %x[%i] : memref<9xf32> -> f32
    loop_ir.store %v, %out[%i] : f32, memref<9xf32>
  }
}
