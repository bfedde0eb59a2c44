import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { type PageSource, PageCall } from '../pages.ts'
import { path } from '../paths.ts'
import { Resource } from '../resource.ts'
import type {
  AddMemberBody,
  AgentAnswer,
  AgentBody,
  AgentRun,
  Budget,
  CatalogueAction,
  CatalogueEntry,
  CatalogueQuery,
  CreateBudgetBody,
  CreatedBudget,
  Credits,
  DeletedBudget,
  Estimate,
  Invitation,
  Knowledge,
  Ledger,
  LedgerEntry,
  LedgerQuery,
  PriceList,
  PricesQuery,
  RemovedMember,
  StoredFile,
  UpdateBudgetBody,
  Usage,
  UsageQuery,
  User,
} from '../wire.ts'

export class UserMethods extends Resource {
  get(options?: CallOptions): Call<User> {
    return this.call('GET', '/user', options)
  }
}

export class KnowledgeMethods extends Resource {
  get(options?: CallOptions): Call<Knowledge> {
    return this.call('GET', '/user/knowledge', options)
  }

  /** Replaces the whole file; an empty text clears it. */
  set(content: string, options?: CallOptions): Call<Knowledge> {
    return this.call('PUT', '/user/knowledge', options, { body: { content } })
  }
}

export class MemberMethods extends Resource {
  invite(body: AddMemberBody, options?: CallOptions): Call<Invitation> {
    return this.call('POST', '/org/members', options, { body })
  }

  remove(email: string, options?: CallOptions): Call<RemovedMember> {
    return this.call('DELETE', '/org/members', options, { query: { email } })
  }
}

/** The actions that workflows are made of. */
export class CatalogMethods extends Resource {
  list(query?: CatalogueQuery, options?: CallOptions): Call<CatalogueEntry[]> {
    return this.call('GET', '/actions', options, { query })
  }

  get(action_id: string, options?: CallOptions): Call<CatalogueAction> {
    return this.call('GET', path`/actions/${action_id}`, options)
  }
}

export type AgentResult = Omit<AgentAnswer, 'status'>

/** The time limit of a question: longer than the server's own limit of 150 s. */
const AGENT_TIMEOUT_MS = 180_000

export class AgentMethods extends Resource {
  /** Asks a question that is answered from the web. A call takes up to 150 seconds. */
  run(
    body: AgentBody & { dry_run: true },
    options?: CallOptions,
  ): Call<{ data: Estimate; request_id: string }>
  run(body: AgentBody, options?: CallOptions): Call<AgentResult>
  run(body: AgentBody, options?: CallOptions): Call<unknown> {
    const more = { body, timeout: AGENT_TIMEOUT_MS }
    return this.whole('POST', '/agent/run', options, more).map((answer) => {
      const { status: _status, ...rest } = answer as AgentAnswer
      return rest
    })
  }

  /** Returns what a run answered, or why it failed. */
  get(request_id: string, options?: CallOptions): Call<AgentRun> {
    return this.call('GET', path`/agent/runs/${request_id}`, options)
  }
}

type JsonOnly<Query> = Omit<Query, 'format'>

export class CreditMethods extends Resource {
  get(options?: CallOptions): Call<Credits> {
    return this.call('GET', '/credits', options)
  }

  ledger(query: JsonOnly<LedgerQuery> = {}, options?: CallOptions): PageCall<Ledger, LedgerEntry> {
    const from = (query: JsonOnly<LedgerQuery>): PageSource<Ledger, LedgerEntry> => ({
      fetch: () => this.call<Ledger>('GET', '/credits/ledger', options, { query }),
      items: ({ entries }) => entries,
      next: ({ next_cursor }) => (next_cursor === null ? null : from({ ...query, cursor: next_cursor })),
    })
    return PageCall.first(from(query))
  }

  usage(query?: JsonOnly<UsageQuery>, options?: CallOptions): Call<Usage> {
    return this.call('GET', '/credits/usage', options, { query })
  }

  prices(query?: PricesQuery, options?: CallOptions): Call<PriceList> {
    return this.call('GET', '/credits/prices', options, { query })
  }
}

export class BudgetMethods extends Resource {
  list(options?: CallOptions): Call<Budget[]> {
    return this.call('GET', '/credits/budgets', options)
  }

  create(body: CreateBudgetBody, options?: CallOptions): Call<CreatedBudget> {
    return this.call('POST', '/credits/budgets', options, { body })
  }

  get(budget_id: string, options?: CallOptions): Call<Budget> {
    return this.call('GET', path`/credits/budgets/${budget_id}`, options)
  }

  update(budget_id: string, body: UpdateBudgetBody, options?: CallOptions): Call<Budget> {
    return this.call('PATCH', path`/credits/budgets/${budget_id}`, options, { body })
  }

  delete(budget_id: string, options?: CallOptions): Call<DeletedBudget> {
    return this.call('DELETE', path`/credits/budgets/${budget_id}`, options)
  }
}

export type FileBody = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

export class FileMethods extends Resource {
  /** Stores a .csv or .xlsx file. A stream is sent as it comes, and is therefore never tried again. */
  upload(file: FileBody, name: string, options?: CallOptions): Call<StoredFile> {
    return this.call('POST', '/files', options, { query: { name }, raw: file })
  }
}
