/**
 * The capabilities that Croft reports to a server. The only unit of columns is UTF-16, which every server supports and
 * which people and models use too.
 */
export const clientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  // Without it rust-analyzer does not say when it has read the project.
  experimental: { serverStatusNotification: true },
  window: { workDoneProgress: true, showMessage: {}, showDocument: { support: false } },
  workspace: {
    applyEdit: false,
    configuration: true,
    workspaceFolders: true,
    didChangeConfiguration: {},
    didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
    workspaceEdit: { documentChanges: true, resourceOperations: ['create', 'rename', 'delete'] },
    fileOperations: { willRename: true },
    symbol: {},
  },
  textDocument: {
    synchronization: { didSave: true },
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
    rename: { prepareSupport: true },
    diagnostic: { relatedDocumentSupport: false },
    publishDiagnostics: { versionSupport: true },
    codeAction: {
      codeActionLiteralSupport: { codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source'] } },
      dataSupport: true,
      resolveSupport: { properties: ['edit'] },
    },
  },
};
