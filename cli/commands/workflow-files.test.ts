import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const LOAM_URL = await app.api.listen({ port: 0, host: '127.0.0.1' })

const FILE = `loam: 1
workflow: Leads
sheets:
  - sheet: Leads
    inputs:
      - {name: domain, type: url, description: Site}
    actions:
      - {id: clean, action: normalize_domain, name: Clean domain, inputs: {value: "{{input.domain}}"}}
      - id: lower
        action: format_data_using_js_expression
        name: Lower
        inputs:
          data_formatter: "{{clean.domain}}"
`

/** Starts an organisation of its own, with a folder for its files. */
async function start() {
  const org = await app.makeOrg()
  const folder = mkdtempSync(join(tmpdir(), 'loam-flows-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'leads.yaml')
  const write = (text: string) => writeFileSync(file, text)
  const env = { LOAM_URL, LOAM_API_KEY: org.key }
  const loam = (...args: string[]) => runLoam(args, env)
  const names = async () =>
    (await org.call('GET', '/workflows')).body.data.map(({ name }: { name: string }) => name)
  return { org, folder, file, write, loam, names }
}

describe('workflow files', () => {
  it('schema prints the JSON Schema', async () => {
    const { stdout, exit } = await runLoam(['schema'], {})
    expect([exit, JSON.parse(stdout).required]).toEqual([0, ['loam', 'workflow', 'sheets']])
  })

  it('diff shows the changes and exits with 9 when asked; apply makes them; twice is once', async () => {
    const { file, write, loam, names } = await start()
    write(FILE)
    const diff = await loam('diff', file, '--exit-code')
    expect([diff.exit, diff.stderr]).toEqual([9, ''])
    expect(diff.stdout).toContain('+ action "Clean domain"')
    expect(diff.stdout).toContain('Plan: 5 to add, 0 to change, 0 to destroy.')
    const refused = await loam('apply', file)
    expect([refused.exit, refused.stderr]).toEqual([2, 'loam: --yes: needed where nobody can be asked\n'])
    expect(await names()).toEqual([])
    expect((await loam('apply', file, '--yes')).exit).toBe(0)
    expect(await names()).toEqual(['Leads'])
    expect((await loam('apply', file, '--yes')).stdout).toBe('No changes.\n')
    expect(await loam('diff', file, '--exit-code')).toEqual({ exit: 0, stdout: 'No changes.\n', stderr: '' })
    write(FILE.replace('"{{clean.domain}}"', '"{{clean.domain}} + 1"'))
    const changed = await loam('diff', file)
    expect(changed.stdout).toContain(
      '~ action "Lower" inputs.data_formatter: "{{clean.domain}}" → "{{clean.domain}} + 1"',
    )
  })

  it('--json has the changes by file, and their sum', async () => {
    const { file, write, loam } = await start()
    write(FILE)
    const data = JSON.parse((await loam('diff', file, '--json')).stdout)
    expect(data.files).toMatchObject([{ file, workflow: 'Leads' }])
    expect(data.files[0].changes[0]).toEqual({ op: 'add', kind: 'workflow', sheet: null, name: 'Leads' })
    expect(data.summary).toEqual({ add: 5, change: 0, destroy: 0 })
  })

  it('errors are printed as file:line:column, all at once, and nothing is applied', async () => {
    const { file, folder, write, loam, names } = await start()
    write(FILE.replace('{{input.domain}}', '{{input.nothing}}').replace('name: Lower', 'nam: Lower'))
    writeFileSync(
      join(folder, 'other.yaml'),
      FILE.replace('Leads', 'Others').replace('type: url', 'type: web'),
    )
    const { exit, stderr } = await loam('apply', folder, '--yes')
    expect(exit).toBe(2)
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => line.replace(folder, ''))
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^loam: \/leads\.yaml:11:9: .*nam/),
        expect.stringMatching(/^loam: \/other\.yaml:6:24: type must be one of/),
      ]),
    )
    expect(await names()).toEqual([])
    write('loam: 1\nworkflow: [')
    const broken = await loam('diff', file)
    expect([broken.exit, broken.stderr]).toEqual([2, expect.stringMatching(/leads\.yaml:\d+:\d+: /)])
    expect((await loam('diff', join(folder, 'none.yaml'))).exit).toBe(3)
  })

  it('what is removed needs --allow-destroy', async () => {
    const { file, write, loam } = await start()
    write(FILE)
    await loam('apply', file, '--yes')
    write(FILE.split('\n').slice(0, 8).join('\n'))
    const refused = await loam('apply', file, '--yes')
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('would remove action "Lower"'),
    ])
    expect((await loam('diff', file)).stdout).toContain('- action "Lower"')
    const applied = await loam('apply', file, '--yes', '--allow-destroy', '--json')
    expect(JSON.parse(applied.stdout)).toMatchObject({ applied: true, summary: { destroy: 1 } })
  })

  it('pull writes the same bytes every time, fits what apply reads, and keeps what differs', async () => {
    const { org, folder, file, write, loam } = await start()
    write(FILE)
    await loam('apply', file, '--yes')
    const dir = join(folder, 'pulled')
    expect(await loam('pull', '--dir', dir)).toEqual({
      exit: 0,
      stdout: `${join(dir, 'leads.yaml')} (new)\n`,
      stderr: '',
    })
    const text = readFileSync(join(dir, 'leads.yaml'), 'utf8')
    expect((await loam('pull', 'Leads', '--dir', dir)).stdout).toContain('(same)')
    expect((await loam('diff', dir, '--exit-code')).stdout).toBe('No changes.\n')
    writeFileSync(join(dir, 'leads.yaml'), '# mine\n')
    expect((await loam('pull', '--dir', dir)).exit).toBe(2)
    expect(readFileSync(join(dir, 'leads.yaml'), 'utf8')).toBe('# mine\n')
    expect((await loam('pull', '--dir', dir, '--yes')).exit).toBe(0)
    expect(readFileSync(join(dir, 'leads.yaml'), 'utf8')).toBe(text)
    await org.call('POST', '/workflows', { name: 'Leads' })
    expect((await loam('pull', '--dir', dir, '--format', 'json')).exit).toBe(0)
    expect(readdirSync(dir)).toEqual(['leads-2.json', 'leads.json', 'leads.yaml'])
    expect((await loam('pull', 'Leads', '--dir', dir)).stderr).toContain('several workflows')
  })

  it('exit codes: 6 for a wrong key, 5 for a server that is away', async () => {
    const env = { LOAM_URL, LOAM_API_KEY: 'loam_wrong' }
    expect((await runLoam(['pull'], env)).exit).toBe(6)
    expect((await runLoam(['pull', '--url', LOAM_URL], {})).exit).toBe(6)
    const away = await runLoam(['pull'], { ...env, LOAM_URL: 'http://127.0.0.1:9' })
    expect([away.exit, away.stderr]).toEqual([5, expect.stringContaining('http://127.0.0.1:9')])
  })
})
