/** Time zones to choose from. Browsers leave UTC out of their list, which schedules have by default. */
export const TIME_ZONES: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
]
