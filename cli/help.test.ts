import { readdirSync } from 'node:fs'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { runLoam } from './testing/loam.ts'

const groups = readdirSync(new URL('commands/', import.meta.url))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.replace('.ts', ''))
it.each(groups)('every command of %s has a description and an example', async (name) => {
  const group = new Command(name)
  const module: { define: (command: Command) => void } = await import(`./commands/${name}.ts`)
  module.define(group)
  for (const command of group.commands.length > 0 ? group.commands : [group]) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    expect(command.description()).not.toBe('')
    expect(help).toMatch(/\nExamples?:\n {2}\$ loam /)
  }
})

it.each(
  [
    'serve',
    'org create --name --admin-email',
    'member add --org --email --role',
    'key create --email --scopes --allowed-workflows --rate-limit',
    'key list',
    'key rotate',
    'key revoke',
    'credits grant --org --amount',
    'credits balance',
    'env set --workflow',
    'env list --workflow',
    'env unset --workflow',
    'connection add --provider --name --secret --field',
    'connection list',
    'connection test',
    'connection remove',
    'file put',
    'webhook enable --sheet',
    'webhook disable --sheet',
    'schedule set --sheet --cron',
    'workflow share --workflow --email',
    'shortcut publish --workflow --name --inputs --outputs',
    'shortcut archive',
    'segment create --name --kind --filter',
    'actions',
    'actions show',
    'invitation accept --token',
    'backup',
    'restore',
    'doctor',
  ].map((line) => line.split(' --')),
)('D56: loam %s is there with its options', async (path, ...options) => {
  const [name = '', subcommand] = path.split(' ')
  const group = new Command(name)
  const module: { define: (command: Command) => void } = await import(`./commands/${name}.ts`)
  module.define(group)
  const command = subcommand === undefined ? group : group.commands.find((each) => each.name() === subcommand)
  const known = command?.options.map((option) => option.long)
  expect(known).toEqual(expect.arrayContaining(options.map((option) => `--${option}`)))
})

it('loam --help lists the commands and the exit codes', async () => {
  const { exit, stdout } = await runLoam(['--help'], {})
  expect(exit).toBe(0)
  for (const name of groups) expect(stdout).toContain(`\n  ${name} `)
  expect(stdout).toContain('--json')
  expect(stdout).toMatch(/Exit codes:(\n {2}\d {2}.+){6}/)
})
