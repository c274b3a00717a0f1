create table t(id integer primary key, k integer, v text);
with recursive c(i) as (select 1 union all select i+1 from c where i < 5000) insert into t select i, i*7919%101, 'v'||i from c;
create index ti on t(k);
select k, count(*), max(v) from t group by k having count(*) > 49 order by 2 desc, 1 limit 10;
select sum(a.id) from t a join t b on a.k = b.k where b.id < 100;
begin; delete from t where k % 2; rollback; update t set v = upper(v) where id < 10;
select * from t where id < 5; select count(*), avg(k), group_concat(id) from t where v like 'v49%'; pragma integrity_check;
select json_extract('{"a":[1,2,3]}', '$.a[1]'), hex(zeroblob(3)), printf('%08.3f', 3.14159), abs(-3), nosuch(1);
