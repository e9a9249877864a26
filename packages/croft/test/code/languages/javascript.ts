import type { GoldenLanguage } from '../golden.ts';

export const javascript: GoldenLanguage = {
  path: 'shop.jsx',
  source: `'use strict';

class Shop {
  #count = 0;

  add(item) {
    return item;
  }

  handle = (event) => {
    go(event);
  };
}

const api = {
  get() {
    return 1;
  },
  post: () => 2,
};

exports.run = function () {
  return 1;
};

const View = () => <div>{1}</div>;

describe('shop', () => {
  test('adds', async () => {
    expect(1);
  });
});
`,
  outline: [
    ...['class Shop', 'field Shop.#count', 'method Shop.add', 'method Shop.handle', 'constant api', 'method api.get'],
    ...['method api.post', 'method exports.run', 'function View', 'test shop', 'test shop.adds'],
  ],
  edits: [
    { ...{ edit: 'body', symbol: 'handle', text: 'stop();' }, from: '    go(event);\n', to: '    stop();\n' },
    { ...{ edit: 'body', symbol: 'api.post', text: '3' }, from: '() => 2', to: '() => 3' },
    { ...{ edit: 'body', symbol: 'View', text: '<p />' }, from: '<div>{1}</div>', to: '<p />' },
    { ...{ edit: 'body', symbol: 'shop.adds', text: 'expect(2);' }, from: 'expect(1);', to: 'expect(2);' },
    {
      ...{ edit: 'body', symbol: 'exports.run', text: 'return 2;' },
      from: '{\n  return 1;\n}',
      to: '{\n  return 2;\n}',
    },
    {
      ...{ edit: 'after', symbol: 'api.get', text: 'put() {}' },
      from: '    return 1;\n  },\n',
      to: '    return 1;\n  },\n  put() {},\n',
    },
    { ...{ edit: 'delete', symbol: 'api.post' }, from: '  post: () => 2,\n', to: '' },
    { ...{ edit: 'delete', symbol: 'Shop.#count' }, from: '  #count = 0;\n\n', to: '' },
  ],
};
