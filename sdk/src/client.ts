import type { Call } from './call.ts'
import { LoamError } from './errors.ts'
import { type CallOptions, type ClientOptions, readSettings } from './options.ts'
import { ActionMethods } from './resources/actions.ts'
import {
  AgentMethods,
  BudgetMethods,
  CatalogMethods,
  CreditMethods,
  FileMethods,
  KnowledgeMethods,
  MemberMethods,
  UserMethods,
} from './resources/organisation.ts'
import { RowMethods } from './resources/rows.ts'
import { RunMethods } from './resources/runs.ts'
import { ShortcutMethods } from './resources/shortcuts.ts'
import { SegmentMethods, SourceMethods, SyncMethods } from './resources/sources.ts'
import { ExportMethods, ImportMethods } from './resources/transfers.ts'
import { CommentMethods, ViewMethods } from './resources/views.ts'
import { DefinitionMethods, InputMethods, SheetMethods, WorkflowMethods } from './resources/workflows.ts'
import { type Query, Transport } from './transport.ts'
import { webhooks } from './webhooks.ts'

/** A client of one Loam server with one API key. It may make any number of calls at once. */
export class Loam {
  readonly user: UserMethods
  readonly knowledge: KnowledgeMethods
  readonly members: MemberMethods
  readonly catalog: CatalogMethods
  readonly agent: AgentMethods
  readonly credits: CreditMethods
  readonly budgets: BudgetMethods
  readonly workflows: WorkflowMethods
  readonly definitions: DefinitionMethods
  readonly sheets: SheetMethods
  readonly inputs: InputMethods
  readonly actions: ActionMethods
  readonly rows: RowMethods
  readonly views: ViewMethods
  readonly comments: CommentMethods
  readonly runs: RunMethods
  readonly files: FileMethods
  readonly imports: ImportMethods
  readonly exports: ExportMethods
  readonly shortcuts: ShortcutMethods
  readonly sources: SourceMethods
  readonly segments: SegmentMethods
  readonly syncs: SyncMethods
  readonly webhooks = webhooks
  readonly #transport: Transport

  constructor(options: ClientOptions = {}) {
    const transport = new Transport(readSettings(options))
    this.#transport = transport
    this.user = new UserMethods(transport)
    this.knowledge = new KnowledgeMethods(transport)
    this.members = new MemberMethods(transport)
    this.catalog = new CatalogMethods(transport)
    this.agent = new AgentMethods(transport)
    this.credits = new CreditMethods(transport)
    this.budgets = new BudgetMethods(transport)
    this.workflows = new WorkflowMethods(transport)
    this.definitions = new DefinitionMethods(transport)
    this.sheets = new SheetMethods(transport)
    this.inputs = new InputMethods(transport)
    this.actions = new ActionMethods(transport)
    this.rows = new RowMethods(transport)
    this.views = new ViewMethods(transport)
    this.comments = new CommentMethods(transport)
    this.runs = new RunMethods(transport)
    this.files = new FileMethods(transport)
    this.imports = new ImportMethods(transport)
    this.exports = new ExportMethods(transport)
    this.shortcuts = new ShortcutMethods(transport)
    this.sources = new SourceMethods(transport)
    this.segments = new SegmentMethods(transport)
    this.syncs = new SyncMethods(transport)
  }

  /**
   * Calls an endpoint that has no method. `path` is below `/api/v1`, such as `/workflows`. The result is the `data` of the
   * answer, or the whole answer if it has none.
   */
  request<Data = unknown>(
    method: string,
    path: string,
    ...[{ query, body } = {}, options]: [given?: { query?: Query; body?: unknown }, options?: CallOptions]
  ): Call<Data> {
    if (!path.startsWith('/')) throw new LoamError(`The path ${JSON.stringify(path)} must begin with /`)
    const below = path.replace(/^\/api\/v1(?=\/)/, '')
    const request = { method: method.toUpperCase(), path: below, query, body, options }
    return this.#transport.send(request).map((answer) => {
      const hasData = typeof answer === 'object' && answer !== null && 'data' in answer
      return (hasData ? answer.data : answer) as Data
    })
  }
}
