"""Lists the forms of the messages that Python, NumPy and torch write about wrong code, one form in each line.

`{n}` stands for a number, `{s}` for a shape or another list of numbers, `{w}` for a word (a name, a type, a dtype),
`{a}` for the arguments of a call, given by their types, and `{o}` for an operator. A form that ends with `…` is the
beginning of a longer message. `library_messages.py` uses them.
"""

PYTHON = """
{w}() missing {n} required positional argument: '{w}'
{w}() missing {n} required positional arguments: '{w}' and '{w}'
{w}() missing {n} required positional arguments: '{w}', '{w}', and '{w}'
{w}() missing {n} required keyword-only argument: '{w}'
{w}() takes {n} positional argument but {n} was given
{w}() takes {n} positional argument but {n} were given
{w}() takes {n} positional arguments but {n} was given
{w}() takes {n} positional arguments but {n} were given
{w}() takes from {n} to {n} positional arguments but {n} were given
{w}() takes no arguments ({n} given)
{w}() takes exactly one argument ({n} given)
{w}() got an unexpected keyword argument '{w}'
{w}() got multiple values for argument '{w}'
{w} expected at most {n} arguments, got {n}
{w} expected at least {n} argument, got {n}
Value after * must be an iterable, not {w}
argument after ** must be a mapping, not {w}
'{w}' object is not callable
'{w}' object is not subscriptable
'{w}' object is not iterable
'{w}' object is not an iterator
'{w}' object does not support item assignment
'{w}' object does not support item deletion
'{w}' object cannot be interpreted as an integer
'{w}' object has no attribute '{w}'
type '{w}' is not subscriptable
type object '{w}' has no attribute '{w}'
module '{w}' has no attribute '{w}'
object of type '{w}' has no len()
unsupported operand type(s) for {o}: '{w}' and '{w}'
bad operand type for unary {o}: '{w}'
bad operand type for abs(): '{w}'
'{o}' not supported between instances of '{w}' and '{w}'
argument of type '{w}' is not iterable
unhashable type: '{w}'
cannot unpack non-iterable {w} object
not enough values to unpack (expected {n}, got {n})
not enough values to unpack (expected at least {n}, got {n})
too many values to unpack (expected {n})
too many values to unpack (expected {n}, got {n})
can only concatenate {w} (not "{w}") to {w}
can't multiply sequence by non-int of type '{w}'
must be real number, not {w}
float() argument must be a string or a real number, not '{w}'
int() argument must be a string, a bytes-like object or a real number, not '{w}'
type {w} doesn't define __round__ method
slice indices must be integers or None or have an __index__ method
list indices must be integers or slices, not {w}
tuple indices must be integers or slices, not {w}
list index out of range
list assignment index out of range
tuple index out of range
string index out of range
range() arg 3 must not be zero
pop from empty list
{w}() arg is an empty sequence
zip() argument {n} is longer than argument {n}
zip() argument {n} is shorter than argument {n}
isinstance() arg 2 must be a type, a tuple of types, or a union
division by zero
float division by zero
float modulo
integer modulo by zero
integer division or modulo by zero
math domain error
math range error
expected a positive input
cannot convert float NaN to integer
cannot convert float infinity to integer
No active exception to reraise
'{w}'
{n}
"""
"""The last two forms are messages of KeyError."""

NUMPY = """
operands could not be broadcast together with shapes {s}
shapes {s} and {s} not aligned: {n} (dim {n}) != {n} (dim {n})
matmul: Input operand {n} has a mismatch in its core dimension {n}, …
cannot reshape array of size {n} into shape {s}
could not broadcast input array from shape {s} into shape {s}
all the input array dimensions except for the concatenation axis must match exactly, but along dimension {n}, the \
array at index {n} has size {n} and the array at index {n} has size {n}
all the input arrays must have same number of dimensions, but the array at index {n} has {n} dimension(s) and the \
array at index {n} has {n} dimension(s)
all input arrays must have the same shape
axis {n} is out of bounds for array of dimension {n}
axes don't match array
index {n} is out of bounds for axis {n} with size {n}
too many indices for array: array is {n}-dimensional, but {n} were indexed
only integer scalar arrays can be converted to a scalar index
only length-1 arrays can be converted to Python scalars
only 0-dimensional arrays can be converted to Python scalars
only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices
The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
setting an array element with a sequence.…
Cannot interpret '{w}' as a data type
Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead.…
Singular matrix
"""

TORCH = """
The size of tensor a ({n}) must match the size of tensor b ({n}) at non-singleton dimension {n}
The expanded size of the tensor ({n}) must match the existing size ({n}) at non-singleton dimension {n}.  Target \
sizes: {s}.  Tensor sizes: {s}
The number of sizes provided ({n}) must be greater or equal to the number of dimensions in the tensor ({n})
expand({w}{{s}}, size={s}): the number of sizes provided ({n}) must be greater or equal to the number of dimensions in \
the tensor ({n})
Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor
mat1 and mat2 shapes cannot be multiplied ({s} and {s})
size mismatch, got input ({n}), mat ({s}), vec ({n})
inconsistent tensor size, expected tensor {s} and src {s} to have the same number of elements, but got {n} and {n} \
elements respectively
1D tensors expected, but got {n}D and {n}D tensors
both arguments to matmul need to be at least 1D, but they are {n}D and {n}D
Expected size for first two dimensions of batch2 tensor to be: {s} but got: {s}.
batch1 must be a 3D tensor
batch2 must be a 3D tensor
self must be a matrix
mat2 must be a matrix
t() expects a tensor with <= 2 dimensions, but self is {n}D
tensor.mT is only supported on matrices or batches of matrices. Got {n}-D tensor.
{w}: input tensor must have at least 2 dimensions
diag(): Supports 1D or 2D tensors. Got {n}D
outer: Expected 1-D argument {w}, but got {n}-D
permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of \
dimensions i.e. input.dim() = {n} is not equal to len(dims) = {n}
permute(): duplicate dims are not allowed.
shape '{s}' is invalid for input of size {n}
invalid shape dimension {n} at index {n} of shape {s}
invalid shape dimension {n}
only one dimension can be inferred
cannot reshape tensor of 0 elements into shape {s}…
view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous \
subspaces). Use .reshape(...) instead.
Dimension out of range (expected to be in range of {s}, but got {n})
Dimension specified as {n} but tensor has no dimensions
index {n} is out of bounds for dimension {n} with size {n}
index out of range in self
invalid index of a 0-dim tensor.…
len() of a 0-d tensor
iteration over a 0-d tensor
{w}() cannot be applied to a 0-dim tensor.
{w} expects at least a 1-dimensional tensor
zero-dimensional tensor (at position {n}) cannot be concatenated
{w}(): Expected reduction dim {n} to have non-zero size.
{w}(): Expected reduction dim to be specified for input.numel() == 0.…
selected index k out of range
too many indices for tensor of dimension {n}
tensors used as indices must be long, int, byte or bool tensors
only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {w})
only integer tensors of a single element can be converted to an index
only one element tensors can be converted to Python scalars
a Tensor with {n} elements cannot be converted to Scalar
expected sequence of length {n} at dim {n} (got {n})
Could not infer dtype of {w}
new(): invalid data type '{w}'
Boolean value of Tensor with more than one value is ambiguous
Boolean value of Tensor with no values is ambiguous
The shape of the mask {s} at index {n} does not match the shape of the indexed tensor {s} at index {n}
shape mismatch: indexing tensors could not be broadcast together with shapes {s}
shape mismatch: value tensor of shape {s} cannot be broadcast to indexing result of shape {s}
output with shape {s} doesn't match the broadcast shape {s}
Index tensor must have the same number of dimensions as input tensor
Size does not match at dimension {n} expected index {s} to be smaller than {w} {s} apart from dimension {n}
index_select(): Expected dtype int32 or int64 for index
Tensors must have same number of dimensions: got {n} and {n}
Sizes of tensors must match except in dimension {n}. Expected size {n} but got size {n} for tensor number {n} in \
the list.
stack expects each tensor to be equal size, but got {s} at entry {n} and {s} at entry {n}
stack expects a non-empty TensorList
torch.cat(): expected a non-empty list of Tensors
split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {n}), but got \
split_sizes={s}
chunk expects `chunks` to be greater than 0, got: {n}
start ({n}) + length ({n}) exceeds dimension size ({n}).
upper bound and lower bound inconsistent with step sign
step must be greater than zero
{w}: Dimension size must be non-negative.
einsum(): subscript {w} has size {n} for operand {n} which does not broadcast with previously seen size {n}
einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions ({n}) for operand {n} \
and no ellipsis was given
einsum(): output subscript {w} does not appear in the equation for any input operand
einsum(): more operands were provided than specified in the equation
einsum(): fewer operands were provided than specified in the equation
expected scalar type {w} but found {w}
expected m1 and m2 to have the same dtype, but got: {w} != {w}
mat1 and mat2 must have the same dtype, but got {w} and {w}
result type {w} can't be cast to the desired output type {w}
"{w}" not implemented for '{w}'
dim {n} appears multiple times in the list of dims
expected Tensor as element {n} in argument {n}, but got {w}
embed_dim {n} not divisible by num_heads {n}
{w}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {w}
masked_fill_ only supports boolean masks, but got mask with dtype {w}
masked_fill only supports boolean masks, but got mask with dtype {w}
where expected condition to be a boolean tensor, but got a tensor with dtype {w}
Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or \
`logical_not()` operator instead.
Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or \
`logical_not()` operator instead.
Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.
Expected tensor for argument #{n} '{w}' to have one of the following scalar types: Long, Int; but got {w} instead …
one_hot is only applicable to index tensor of type LongTensor.
Given normalized_shape={s}, expected input with shape {s}, but got input of size{s}
input.size(-1) must be equal to input_size. Expected {n}, got {n}
Expected hidden[{n}] size {s}, got {s}
Expected hidden size {s}, got {s}
was expecting embedding dimension of {n}, but got {n}
embed_dim must be divisible by num_heads
query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor
The shape of the 2D attn_mask is {s}, but should be {s}.
Padding length should be less than or equal to two times the input dimension but got padding length {n} and input of \
dimension {n}
probability tensor contains either `inf`, `nan` or element < 0
dropout probability has to be between 0 and 1, but got {n}
Expected input batch_size ({n}) to match target batch_size ({n}).
Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
element {n} of tensors does not require grad and does not have a grad_fn
grad can be implicitly created only for scalar outputs
Only Tensors of floating point and complex dtype can require gradients
Trying to backward through the graph a second time …
{w}() missing {n} required positional argument: "{w}"
{w}() missing {n} required positional arguments: "{w}"
{w}() missing {n} required positional argument: "{w}", "{w}"
{w}() missing {n} required positional arguments: "{w}", "{w}"
{w}(): argument '{w}' (position {n}) must be {w}, not {w}
{w}(): argument '{w}' must be {w}, not {w}
{w}(): argument '{w}' (position {n}) must be tuple of ints, not {w}
{w}(): argument '{w}' (position {n}) must be tuple of Tensors, not {w}
{w}(): argument '{w}' (position {n}) must be tuple of Tensors, but found element of type {w} at pos {n}
{w}(): argument '{w}' failed to unpack the object at pos {n} with error "type must be tuple of ints,but got {w}"
{w}() received an invalid combination of arguments - got ({a})…
can't assign a {w} to a {w}
cannot assign '{w}' as parameter '{w}' (torch.nn.Parameter or None expected)
cannot assign '{w}' as child module '{w}' (torch.nn.Module or None expected)
cannot assign module before Module.__init__() call
cannot assign parameters before Module.__init__() call
cannot assign parameter before Module.__init__() call
{w} is not a Module subclass
"""
