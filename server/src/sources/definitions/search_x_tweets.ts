import { defineSource } from '../define.ts'
import { posts, recentPosts } from '../systems/x/posts.ts'

export default defineSource({
  slug: 'search_x_tweets',
  name: 'Search posts on X',
  description: 'Posts of the last seven days that match a query, newest first.',
  mode: 'once',
  shape: posts,
  maxCountAlias: 'max_tweets',
  pulls: [recentPosts],
})
