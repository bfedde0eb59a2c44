/** What a workflow can draw on beside its own chain. */
export type ConfigurationEnvironment = {
  envKeys: ReadonlySet<string>
  /** How many connections of the organisation there are to a provider, or of them with a name or id. */
  connectionsOf: (provider: string, name?: string) => number
  /** Whether the installation has a key for a provider, and whether it says where one is. */
  hasKey: (provider: string) => boolean
  hasAddress: (provider: string) => boolean
}
