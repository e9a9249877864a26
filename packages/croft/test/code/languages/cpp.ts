import type { GoldenLanguage } from '../golden.ts';

export const cpp: GoldenLanguage = {
  path: 'shop.cpp',
  source: `#include <vector>

namespace shop {

/// A till.
class Till {
 public:
  explicit Till(int n) : n_(n) {}
  ~Till() {}
  int size() const { return n_; }
  virtual void close() = 0;
  bool operator==(const Till& other) const { return true; }

 private:
  int n_;
};

template <typename T>
T twice(T x) {
  return x + x;
}

int Till::add(int a) {
  return a;
}

}  // namespace shop

enum class Color { Red };
[[nodiscard]] int top() { return 1; }
auto text = R"(
a
)";
`,
  outline: [
    'module shop',
    'class shop.Till',
    'constructor shop.Till.Till',
    'method shop.Till.~Till',
    'method shop.Till.size',
    'method shop.Till.close',
    'method shop.Till.operator==',
    'field shop.Till.n_',
    'function shop.twice',
    'method shop.Till.add',
    'enum Color',
    'function top',
    'variable text',
  ],
  edits: [
    { edit: 'body', symbol: 'shop::Till::size', text: 'return 2;', from: '{ return n_; }', to: '{ return 2; }' },
    {
      edit: 'body',
      symbol: 'Till::add',
      text: 'return R"(\n b\n)"[0];',
      from: '  return a;\n',
      to: '  return R"(\n b\n)"[0];\n',
    },
    { edit: 'body', symbol: 'twice', text: 'return 2 * x;', from: 'return x + x;', to: 'return 2 * x;' },
    {
      edit: 'signature',
      symbol: 'twice',
      text: 'template <typename T>\nT twice(T x, int n)',
      from: 'template <typename T>\nT twice(T x)',
      to: 'template <typename T>\nT twice(T x, int n)',
    },
    {
      edit: 'signature',
      symbol: 'Till.add',
      text: 'int Till::add(int a, int b)',
      from: 'int Till::add(int a)',
      to: 'int Till::add(int a, int b)',
    },
    {
      edit: 'after',
      symbol: 'Till.size',
      text: 'int more() { return 1; }',
      from: '{ return n_; }\n',
      to: '{ return n_; }\n  int more() { return 1; }\n',
    },
    {
      edit: 'before',
      symbol: 'Till',
      text: 'struct First {};',
      from: '/// A till.',
      to: 'struct First {};\n\n/// A till.',
    },
    {
      edit: 'replace',
      symbol: 'top',
      text: 'int top() { return 2; }',
      from: '[[nodiscard]] int top() { return 1; }',
      to: 'int top() { return 2; }',
    },
    { edit: 'delete', symbol: 'Till.add', from: '\nint Till::add(int a) {\n  return a;\n}\n', to: '' },
  ],
};
