import { expect } from 'vitest'
import { storeUpload } from '#server/files/uploads.ts'
import type { Json, TestApp, TestOrg } from '#test/plumbing/harness.ts'

export const MAPPING = { Name: 'Company', Web: 'domain' }
export const CSV = 'Name,Web\nAcme,acme.example\nGlobex,globex.example\n'

export const manyRows = (count: number) =>
  `Name,Web\n${Array.from({ length: count }, (_, n) => `Company ${n},c${n}.example\n`).join('')}`

/** Returns the calls of an organisation that uploads and imports files. */
export function importing(app: TestApp, org: TestOrg) {
  /** Uploads a file as `loam file put` does. */
  async function put(
    content: string | Buffer,
    name = 'leads.csv',
    owner: Pick<TestOrg, 'orgId' | 'adminEmail'> = org,
    at = app,
  ): Promise<string> {
    const body = (async function* () {
      yield Buffer.from(content)
    })()
    const upload = { orgId: owner.orgId, name, createdBy: owner.adminEmail }
    return (await storeUpload({ db: at.store.system, storage: at.services.storage }, upload, body)).file_ref
  }

  /** Waits until the import of a sheet has ended. */
  async function ended(base: string): Promise<Json> {
    for (const deadline = Date.now() + 50_000; ;) {
      const { body } = await org.call('GET', `${base}/csv`)
      if (body.data.status !== 'processing') return body.data
      if (Date.now() > deadline) throw new Error(`still processing: ${JSON.stringify(body.data)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Imports a file into a sheet and returns the result. */
  async function importInto(base: string, content: string | Buffer, body: object = {}, name?: string) {
    const file_ref = await put(content, name)
    const answer = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING, ...body })
    expect([answer.status, answer.body.errors]).toEqual([202, undefined])
    return ended(base)
  }

  return { put, ended, importInto }
}
