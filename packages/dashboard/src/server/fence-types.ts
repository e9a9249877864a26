/** As `AgentFence` of the protocol. */
export interface AgentFence {
  readonly agentId: string;
  readonly workspaces: readonly {
    readonly name: string;
    readonly workspaceId: string;
    readonly access: 'read-write' | 'read-only';
    readonly permissionMode: string;
    readonly sandbox?: { readonly sandboxId: string; readonly name: string; readonly provider: string };
    readonly read: FenceVerdict;
    readonly search: FenceVerdict;
    readonly write: FenceVerdict;
    readonly run: FenceVerdict;
    readonly tools: readonly {
      readonly name: string;
      readonly kind: 'read' | 'search' | 'write' | 'run';
      readonly verdict: FenceVerdict['verdict'];
    }[];
    readonly network?: {
      readonly mode: string;
      readonly allowDomains?: readonly string[];
      readonly allowCidrs?: readonly string[];
    };
    readonly secrets: readonly string[];
    readonly allowControl: readonly string[];
  }[];
  readonly secrets: readonly string[];
}

interface FenceVerdict {
  readonly verdict: 'runs' | 'asks' | 'no';
  readonly reason: string;
}
