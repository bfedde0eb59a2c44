import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { field } from '#server/catalog/fields/fields.ts'
import { done, failed } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import type { Json, TestApp, TestOrg } from '#test/plumbing/harness.ts'

/** An action that returns the JSON of its input as its outputs. It fails without any. */
export const echo = defineAction({
  id: 'echo',
  name: 'Echo',
  description: 'Returns its input as outputs.',
  category: 'data',
  credits: 0,
  inputs: { json: field.text({ label: 'Json', help: 'The outputs.' }) },
  outputs: { said: output.text('A text.'), heard: output.json('Anything.') },
  dynamic: true,
  run: ({ inputs }) =>
    inputs.json === undefined || inputs.json === ''
      ? failed('nothing was said')
      : done({ said: null, heard: null, ...JSON.parse(inputs.json) }),
})

export type Finished = { record: Json; bytes: Buffer; headers: Record<string, unknown> }

/** Returns the calls that tests of exports make as one organisation. */
export function exportsOf(app: TestApp, org: Pick<TestOrg, 'call'>) {
  const start = async (base: string, body: unknown = {}): Promise<Json> => {
    const answer = await org.call('POST', `${base}/export`, body)
    expect([answer.status, answer.body.errors]).toEqual([202, undefined])
    return answer.body.data
  }
  const get = async (base: string, id: string): Promise<Json> =>
    (await org.call('GET', `${base}/export/${id}`)).body.data
  const ended = async (base: string, id: string): Promise<Json> => {
    for (let n = 0; n < 1000; n += 1) {
      const record = await get(base, id)
      if (record.status !== 'running') return record
      await sleep(20)
    }
    throw new Error(`export ${id} does not end`)
  }
  const download = async (
    url: string,
    headers: Record<string, string> = {},
    method: 'GET' | 'HEAD' = 'GET',
  ) => {
    const answer = await app.api.inject({ method, url: url.replace('http://loam.test', ''), headers })
    return { status: answer.statusCode, headers: answer.headers, bytes: answer.rawPayload }
  }
  const finish = async (base: string, body?: unknown): Promise<Finished> => {
    const record = await ended(base, (await start(base, body)).export_id)
    expect([record.status, record.error]).toEqual(['completed', undefined])
    const { bytes, headers } = await download(record.file_url)
    return { record, bytes, headers }
  }
  return {
    start,
    get,
    ended,
    download,
    finish,
    csv: async (base: string, body: unknown = {}): Promise<string[][]> =>
      parse((await finish(base, body)).bytes),
    jsonl: async (base: string, body: object = {}): Promise<Json[]> =>
      splitLines((await finish(base, { ...body, format: 'jsonl' })).bytes).map((line) => JSON.parse(line)),
  }
}

export function splitLines(bytes: Buffer): string[] {
  const text = bytes.toString('utf8')
  return text === '' ? [] : text.trimEnd().split('\n')
}
