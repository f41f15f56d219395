SELECT owner_id, count(*) AS pastes
FROM pastes
GROUP BY owner_id
ORDER BY pastes DESC
LIMIT 10;
