let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () = Printf.printf "%d\n" (fib 18); List.iter (Printf.printf "%d ") (List.sort compare [3; 1; 2]); print_newline ();
  Hashtbl.iter (fun k v -> Printf.printf "%s=%d\n" k v) (let h = Hashtbl.create 3 in Hashtbl.add h "a" 1; h);
  (try failwith "thrown" with Failure m -> print_endline m); exit 3
