import type { GoldenLanguage } from '../golden.ts';

export const ruby: GoldenLanguage = {
  path: 'shop.rb',
  source: `# frozen

module Shops
  LIMIT = 3

  TEXT = <<~EOS
    hello
  EOS

  # A shop.
  class Shop < Base
    attr_reader :name

    def initialize(name)
      @name = name
    end

    # Adds.
    def add(item, count: 1)
      item + count
    end

    def empty; end

    def self.build
      new('x')
    end

    def twice(a) = a * 2

    def blank?
      true
    end
  end
end
`,
  outline: [
    'module Shops',
    'constant Shops.LIMIT',
    'constant Shops.TEXT',
    'class Shops.Shop',
    'constructor Shops.Shop.initialize',
    'method Shops.Shop.add',
    'method Shops.Shop.empty',
    'method Shops.Shop.build',
    'method Shops.Shop.twice',
    'method Shops.Shop.blank?',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'Shop.add',
      text: 'if item\n  item\nend',
      from: '      item + count\n',
      to: '      if item\n        item\n      end\n',
    },
    { edit: 'body', symbol: 'empty', text: '1', from: 'def empty; end', to: 'def empty\n      1\n    end' },
    { edit: 'body', symbol: 'twice', text: 'a + a', from: 'a * 2', to: 'a + a' },
    {
      edit: 'signature',
      symbol: 'Shop.add',
      text: 'def add(item)',
      from: 'def add(item, count: 1)',
      to: 'def add(item)',
    },
    {
      edit: 'after',
      symbol: 'TEXT',
      text: 'MORE = 1',
      from: '    hello\n  EOS\n',
      to: '    hello\n  EOS\n\n  MORE = 1\n',
    },
    {
      edit: 'after',
      symbol: 'Shop.add',
      text: 'def more\n  1\nend',
      from: '      item + count\n    end\n',
      to: '      item + count\n    end\n\n    def more\n      1\n    end\n',
    },
    {
      edit: 'before',
      symbol: 'Shop.add',
      text: 'def first = 1',
      from: '    # Adds.\n',
      to: '    def first = 1\n\n    # Adds.\n',
    },
    {
      edit: 'replace',
      symbol: 'blank?',
      text: 'def blank? = false',
      from: 'def blank?\n      true\n    end',
      to: 'def blank? = false',
    },
    {
      edit: 'delete',
      symbol: 'Shop.add',
      from: '\n    # Adds.\n    def add(item, count: 1)\n      item + count\n    end\n',
      to: '',
    },
  ],
};
