# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory into the files of an answer."""
class Reader:
    """Writes what is found into the files of an answer."""

    def __init__(self, directory, most_elements, most_bytes, fortran):
        self.directory, self.most_elements, self.most_bytes = directory, most_elements, most_bytes
        self.fortran, self.notes, self.end = fortran, [], time.monotonic() + SECONDS
        self.memory, self.leaves, self.layouts, self.depth = gdb.selected_inferior(), {}, {}, 0

    @contextlib.contextmanager
    def deeper(self):
        """Containers within containers: a printer may name its own value."""
        if self.depth >= MOST_DIMENSIONS:
            raise Refused("it is nested too deep", "write a part of it")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def late(self):
        return time.monotonic() > self.end

    def note(self, text):
        if text and text not in self.notes:
            self.notes.append(text)

    def leaf(self, kind):
        if isinstance(kind, Leaf):
            return kind
        name = kind.name
        if name is None:
            return leaf_of(kind)
        if name not in self.leaves:
            self.leaves[name] = leaf_of(kind)
        return self.leaves[name]

    def layout(self, kind, address):
        name = plain(kind).name
        if name not in self.layouts:
            self.layouts[name] = vector_layout(value_at(address, kind))
        return self.layouts[name]

    def open(self, name):
        return open(os.path.join(self.directory, name), "wb")

    def copy(self, file, address, size):
        while size > 0:
            part = min(size, CHUNK)
            file.write(self.memory.read_memory(address, part))
            address, size = address + part, size - part

    def block(self, block, leaf):
        """Strided memory, as it lies there, without large gaps."""
        dims = block.dims
        cut([dims], self.most_elements)
        while self.span(dims, leaf) > self.most_bytes and product(dims) > 1:
            cut([dims], max(1, product(dims) // 2))
        lowest = block.address + sum(min(0, dim.stride) * (dim.read - 1) for dim in dims)
        order = sorted((dim for dim in dims if dim.read > 1), key=lambda dim: -abs(dim.stride))
        strides = {}
        with self.open("bytes") as file:
            self.pieces(file, lowest, order, leaf.size, strides)
        for dim in dims:
            dim.stride = strides.get(id(dim), 0)
        return -sum(min(0, dim.stride) * (dim.read - 1) for dim in dims)

    def span(self, dims, leaf):
        near, pieces = [], 1
        for dim in sorted(dims, key=lambda dim: abs(dim.stride)):
            inner = leaf.size + sum(abs(each.stride) * (each.read - 1) for each in near)
            if abs(dim.stride) - inner > FAR:
                pieces *= dim.read
            else:
                near.append(dim)
        return pieces * (leaf.size + sum(abs(each.stride) * (each.read - 1) for each in near))

    def pieces(self, file, lowest, order, size, strides):
        """Dimensions with gaps piece by piece, the others within one."""
        far = 0
        while far < len(order):
            inner = size + sum(abs(dim.stride) * (dim.read - 1) for dim in order[far + 1:])
            if abs(order[far].stride) - inner <= FAR or product(order[:far + 1]) > MOST_PIECES:
                break
            far += 1
        length = size + sum(abs(dim.stride) * (dim.read - 1) for dim in order[far:])
        for at in itertools.product(*[[i * abs(dim.stride) for i in range(dim.read)] for dim in order[:far]]):
            self.copy(file, lowest + sum(at), length)
        for dim in order[far:]:
            strides[id(dim)] = dim.stride
        packed_size = length
        for dim in reversed(order[:far]):
            strides[id(dim)] = packed_size if dim.stride > 0 else -packed_size
            packed_size *= dim.read

    def rows(self, nested):
        """Rows one behind the other; of more than may be read the first ones."""
        size, left, lengths = nested.leaf.size, min(self.most_elements, self.most_bytes // max(1, nested.leaf.size)), []
        with self.open("bytes") as file:
            for near in self.neighbours(nested.rows, size):
                if len(near) > 1 and sum(row.count for row in near) <= left:
                    self.together(file, near, size)
                    lengths += [row.count for row in near]
                    left -= sum(row.count for row in near)
                    continue
                for row in near:
                    lengths.append(self.row(file, row, size, left))
                    left -= lengths[-1]
            if sum(lengths) < sum(row.count for row in nested.rows):
                self.note("the elements behind the first %d are not read" % sum(lengths))
        lengths += [0] * (product(nested.dims[:-1]) - len(lengths))
        nested.dims[-1].read = max([1] + lengths)
        with self.open("rows") as file:
            file.write(struct.pack("=%dQ" % len(lengths), *lengths))

    @staticmethod
    def neighbours(rows, size):
        """Lists of rows that lie side by side in memory, as a heap has small ones."""
        near, end = [], 0
        for row in rows:
            plain_row = len(row.pieces) == 1 and isinstance(row.pieces[0], list) and row.pieces[0][2] == size and row.count
            address = row.pieces[0][0] if plain_row else 0
            if near and plain_row and 0 <= address - end <= 256 and address - near[0].pieces[0][0] < CHUNK:
                near.append(row)
            else:
                if near:
                    yield near
                near = [row] if plain_row else []
                if not plain_row:
                    yield [row]
            end = address + row.count * size
        if near:
            yield near

    def together(self, file, near, size):
        low = near[0].pieces[0][0]
        memory = bytes(self.memory.read_memory(low, near[-1].pieces[0][0] + near[-1].count * size - low))
        file.write(b"".join(memory[row.pieces[0][0] - low:row.pieces[0][0] - low + row.count * size] for row in near))

    def row(self, file, row, size, left):
        written = 0
        for piece in row.pieces:
            if isinstance(piece, bytes):
                part = piece[:left * size]
                file.write(part)
                count = len(part) // size
            else:
                address, count, stride = piece
                count = min(count, left)
                self.strided(file, address, count, stride, size)
            written, left = written + count, left - count
        return written

    def strided(self, file, address, count, stride, size):
        if count == 0:
            return
        if stride == size or count == 1:
            self.copy(file, address, count * size)
            return
        low = min(address, address + stride * (count - 1))
        memory = bytes(self.memory.read_memory(low, abs(stride) * (count - 1) + size))
        first = address - low
        file.write(b"".join(memory[first + i * stride:first + i * stride + size] for i in range(count)))
