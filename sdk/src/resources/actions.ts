import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { Resource, type Warned } from '../resource.ts'
import type {
  ActionDetail,
  ActionInstance,
  ActionNode,
  ActionOutputs,
  ActionSuggestion,
  AddActionBody,
  CellDetail,
  CellTest,
  CheckConditionsBody,
  CheckedConditions,
  ConfigureActionBody,
  ConfiguredAction,
  DeletedAction,
  Estimate,
  FieldOptions,
  MoveActionBody,
  MovedAction,
  NamedAction,
  NotedAction,
  Queued,
  RunActionBody,
  RunningTest,
  ReorderedWaterfall,
  ReorderWaterfallBody,
  TestActionBody,
  TestEstimate,
  TestNewActionBody,
  Waterfall,
  WaterfallQuery,
} from '../wire.ts'

/** The most parameters of a method is four: what follows the sheet and the action. */
type After<Body> = [body: Body, options?: CallOptions]

export class ActionMethods extends Resource {
  add(sheet: SheetRef, body: AddActionBody, options?: CallOptions): Call<Warned<ActionInstance>> {
    return this.warned('POST', at(sheet, '/add'), options, { body })
  }

  graph(sheet: SheetRef, options?: CallOptions): Call<ActionNode[]> {
    return this.call('GET', at(sheet, '/graph'), options)
  }

  get(sheet: SheetRef, id: string, options?: CallOptions): Call<Warned<ActionDetail>> {
    return this.warned('GET', one(sheet, id), options)
  }

  update(
    sheet: SheetRef,
    id: string,
    ...[body, options]: After<ConfigureActionBody>
  ): Call<Warned<ConfiguredAction>> {
    return this.warned('PATCH', one(sheet, id), options, { body })
  }

  delete(sheet: SheetRef, id: string, options?: CallOptions): Call<DeletedAction> {
    return this.call('DELETE', one(sheet, id), options)
  }

  outputs(sheet: SheetRef, id: string, options?: CallOptions): Call<ActionOutputs> {
    return this.call('GET', one(sheet, id, '/outputs'), options)
  }

  rename(sheet: SheetRef, id: string, ...[name, options]: After<string>): Call<NamedAction> {
    return this.call('PATCH', one(sheet, id, '/name'), options, { body: { name } })
  }

  /** Moves an action after another, to the start (`input`), or to the end. */
  move(
    sheet: SheetRef,
    id: string,
    ...[body = {}, options]: [body?: NonNullable<MoveActionBody>, options?: CallOptions]
  ): Call<MovedAction> {
    return this.call('PATCH', one(sheet, id, '/move'), options, { body })
  }

  note(sheet: SheetRef, id: string, ...[note, options]: After<string>): Call<NotedAction> {
    return this.call('POST', one(sheet, id, '/notes'), options, { body: { note } })
  }

  /** Runs one action for rows: all of them, unless the body names some. */
  run(
    sheet: SheetRef,
    id: string,
    ...[body, options]: After<NonNullable<RunActionBody> & { dry_run: true }>
  ): Call<Estimate>
  run(
    sheet: SheetRef,
    id: string,
    ...[body, options]: [body?: NonNullable<RunActionBody>, options?: CallOptions]
  ): Call<Queued>
  run(
    sheet: SheetRef,
    id: string,
    ...[body = {}, options]: [body?: NonNullable<RunActionBody>, options?: CallOptions]
  ): Call<unknown> {
    return this.call('POST', one(sheet, id, '/run'), options, { body })
  }

  /** Changes the order in which the providers of a field are asked. */
  reorder(
    sheet: SheetRef,
    id: string,
    field: string,
    ...[providers, options]: After<ReorderWaterfallBody['providers']>
  ): Call<Warned<ReorderedWaterfall>> {
    return this.warned('PATCH', one(sheet, id, path`/waterfall/${field}`), options, { body: { providers } })
  }

  waterfall(
    sheet: SheetRef,
    id: string,
    field: string,
    ...[query, options]: [query?: WaterfallQuery, options?: CallOptions]
  ): Call<Waterfall> {
    return this.call('GET', one(sheet, id, path`/waterfall/${field}`), options, { query })
  }

  /** Returns the values that a field offers. `context` has the values of the fields that it depends on. */
  options(
    sheet: SheetRef,
    id: string,
    field: string,
    ...[context, options]: [context?: Record<string, unknown>, options?: CallOptions]
  ): Call<FieldOptions> {
    const body = context === undefined ? {} : { context }
    return this.call('POST', one(sheet, id, path`/options/${field}`), options, { body, reads: true })
  }

  suggestions(sheet: SheetRef, options?: CallOptions): Call<ActionSuggestion[]> {
    return this.call('GET', at(sheet, '/suggestions'), options)
  }

  /** Returns what conditions would do to rows of the sheet. */
  checkConditions(
    sheet: SheetRef,
    body: CheckConditionsBody,
    options?: CallOptions,
  ): Call<CheckedConditions> {
    const more = { body, reads: true }
    return this.call('POST', sheetPath(sheet, '/conditions/check'), options, more)
  }

  /** Runs an action for one row without keeping the result. A test that takes long is read with `getTest`. */
  test(
    sheet: SheetRef,
    id: string,
    ...[body, options]: After<TestActionBody>
  ): Call<CellTest | RunningTest | TestEstimate> {
    return this.call('POST', one(sheet, id, '/test'), options, { body })
  }

  /** Runs an action that is not in the chain for one row. A test that takes long is read with `getNewTest`. */
  testNew(
    sheet: SheetRef,
    body: TestNewActionBody,
    options?: CallOptions,
  ): Call<CellTest | RunningTest | TestEstimate> {
    return this.call('POST', at(sheet, '/test'), options, { body })
  }

  getTest(sheet: SheetRef, id: string, ...[test_id, options]: After<string>): Call<CellTest | RunningTest> {
    return this.call('GET', one(sheet, id, path`/test/${test_id}`), options)
  }

  getNewTest(sheet: SheetRef, test_id: string, options?: CallOptions): Call<CellTest | RunningTest> {
    return this.call('GET', sheetPath(sheet, path`/tests/${test_id}`), options)
  }

  /** Returns the outputs of a test that are too large for its result. */
  testOutputs(sheet: SheetRef, id: string, ...[test_id, options]: After<string>): Call<unknown> {
    return this.whole('GET', one(sheet, id, path`/test/${test_id}/outputs`), options)
  }

  newTestOutputs(sheet: SheetRef, test_id: string, options?: CallOptions): Call<unknown> {
    return this.whole('GET', sheetPath(sheet, path`/tests/${test_id}/outputs`), options)
  }

  /** Keeps the result of a test as the cell of its row. */
  keepTest(sheet: SheetRef, id: string, ...[test_id, options]: After<string>): Call<CellDetail> {
    return this.call('POST', one(sheet, id, path`/test/${test_id}/keep`), options)
  }
}

const at = (sheet: SheetRef, rest: string) => sheetPath(sheet, `/actions${rest}`)
const one = (sheet: SheetRef, id: string, rest = '') => at(sheet, `${path`/${id}`}${rest}`)
