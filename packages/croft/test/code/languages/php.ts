import type { GoldenLanguage } from '../golden.ts';

export const php: GoldenLanguage = {
  path: 'shop.php',
  source: `<?php

namespace Shops;

const LIMIT = 3;

/** A shop. */
#[Entity]
final class Shop extends Base
{
    private string $name = 'x';

    public function __construct(string $name)
    {
        $this->name = $name;
    }

    /** Adds. */
    #[Pure]
    public function add(int $item): int
    {
        return $item;
    }

    abstract protected function close(): void;
}

interface Shape { public function area(): float; }

function top(int $a) {
    return $a;
}
`,
  outline: [
    'constant LIMIT',
    'class Shop',
    'property Shop.name',
    'constructor Shop.__construct',
    'method Shop.add',
    'method Shop.close',
    'interface Shape',
    'method Shape.area',
    'function top',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop.add',
      text: 'if ($item) {\n    return 1;\n}\nreturn 2;',
      from: '        return $item;\n',
      to: '        if ($item) {\n            return 1;\n        }\n        return 2;\n',
    },
    {
      edit: 'signature',
      symbol: 'Shop::add',
      text: 'public function add(int $item, int $n): int',
      from: 'public function add(int $item): int',
      to: 'public function add(int $item, int $n): int',
    },
    {
      edit: 'after',
      symbol: 'Shop.add',
      text: 'public function more() {}',
      from: '        return $item;\n    }\n',
      to: '        return $item;\n    }\n\n    public function more() {}\n',
    },
    {
      edit: 'before',
      symbol: 'Shop',
      text: 'class First {}',
      from: '/** A shop. */',
      to: 'class First {}\n\n/** A shop. */',
    },
    {
      edit: 'replace',
      symbol: 'top',
      text: 'function top() {}',
      from: 'function top(int $a) {\n    return $a;\n}',
      to: 'function top() {}',
    },
    {
      edit: 'delete',
      symbol: 'Shop.add',
      from: '\n    /** Adds. */\n    #[Pure]\n    public function add(int $item): int\n    {\n        return $item;\n    }\n',
      to: '',
    },
  ],
};
