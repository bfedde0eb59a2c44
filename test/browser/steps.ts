import type { Page } from 'playwright-core'
import type { TestOrg } from '../plumbing/harness.ts'

/** Makes a workflow with text inputs and rows of the first; returns the path of its main sheet. */
export async function makeSheet(
  org: TestOrg,
  name: string,
  values: string[],
  inputs = ['domain'],
): Promise<string> {
  const id: string = (await org.call('POST', '/workflows', { name })).body.data.workflow_id
  const sheet = `/workflows/${id}/sheets/${id}`
  await org.call(
    'POST',
    `${sheet}/inputs`,
    inputs.map((input) => ({ name: input, type: 'string' })),
  )
  const rows = values.map((value) => ({ [inputs[0] ?? '']: value }))
  if (rows.length > 0) await org.call('POST', `${sheet}/rows`, { rows })
  return sheet
}

export const status = (page: Page, name: string, text: string | RegExp) =>
  page.getByRole('status', { name }).getByText(text).waitFor()
export const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text).first().waitFor()
export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await page.keyboard.press('Control+v')
}
